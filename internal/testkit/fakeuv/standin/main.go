// Standin stands in for uv, uvx or pytest, depending on the name that it is called by. It is small, since tests
// start thousands of them.
package main

import (
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/internal/testkit/fakeuv"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "uvx":
		fakeuv.UVX()
	case "pytest":
		fakeuv.Pytest()
	default:
		fakeuv.UV()
	}
}
