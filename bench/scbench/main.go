// Command scbench compares two trees of SlopCodeBench's evaluation.json, test
// by test, and prints what differs:
//
//	go run -C bench ./scbench TREE TREE
//
// A tree is a run directory, <problem>/<checkpoint>/evaluation.json, as
// SlopCodeBench writes it and as `export "scbench"` does. Durations are not
// compared. It exits with 1 when anything differs, or when a checkpoint is in
// one tree only.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: scbench TREE TREE")
		os.Exit(2)
	}
	report, err := compareTrees(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "scbench:", err)
		os.Exit(2)
	}
	report.write(os.Stdout, os.Args[1], os.Args[2])
	if report.differs() {
		os.Exit(1)
	}
}
