// Command scbench compares two trees of SlopCodeBench's evaluation.json, test by test, and prints the differences:
//
//	go run -C bench ./scbench TREE TREE
//
// A tree is a run directory, <problem>/<checkpoint>/evaluation.json, as written by SlopCodeBench and by
// `export "scbench"`. Durations are not compared. It exits with 1 if anything differs, or if a checkpoint is in only
// one tree.
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
