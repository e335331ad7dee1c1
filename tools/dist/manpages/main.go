// Command manpages writes a man page for each command of fevalgraph.
//
//	manpages DIR
//
// SOURCE_DATE_EPOCH, in seconds, is the date on the pages.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/fevalgraph/fevalgraph/compat"
	"github.com/fevalgraph/fevalgraph/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manpages DIR")
		os.Exit(2)
	}
	root := cli.Commands(compat.Benchmarks())
	root.DisableAutoGenTag = true
	header := doc.GenManHeader{Section: "1", Source: "fevalgraph " + cli.Version(), Manual: "fevalgraph"}
	if err := doc.GenManTree(root, &header, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}
