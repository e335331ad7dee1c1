// Standin is the stand-in for uv or uvx, by the name that it is called by: a small
// program, since tests start thousands of them.
package main

import (
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/internal/testkit/fakeuv"
)

func main() {
	if filepath.Base(os.Args[0]) == "uvx" {
		fakeuv.UVX()
		return
	}
	fakeuv.UV()
}
