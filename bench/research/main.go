// Command research compares two files of results of research problems, score by score: of Frontier-CS's batches, and of
// fevalgraph.
//
//	go run -C bench ./research [-v] [-again FILE]... REFERENCE RESULTS...
//
// REFERENCE is a batch's .state.<track>.json or results.csv. RESULTS are outputs of `fevalgraph results --format json`,
// or files of either kind that `export "frontier"` or a batch wrote. A state contains exact scores; a CSV contains
// rounded ones, and the other side's are then rounded for the comparison.
//
// An evaluation is equal if both sides have the same status, score and unbounded score. A different one varies by
// itself if another RESULTS, or another file of the reference given by -again, differs from the first file of its
// side. It prints a line for every evaluation that is not equal, with -v for all. An evaluation that a side lacks is
// missing. The exit code is 1 if any is different or missing.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = "usage: research [-v] [-again FILE]... REFERENCE RESULTS...\n"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0, 1 for a difference or a failure, 2 for usage.
func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("research", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() { fmt.Fprint(errs, usage) }
	verbose := flags.Bool("v", false, "")
	var again []string
	flags.Func("again", "", func(path string) error { again = append(again, path); return nil })
	if flags.Parse(args) != nil {
		return 2
	}
	if flags.NArg() < 2 {
		fmt.Fprint(errs, usage)
		return 2
	}
	theirs, err := readAll(append([]string{flags.Arg(0)}, again...))
	if err != nil {
		fmt.Fprintln(errs, "research:", err)
		return 1
	}
	ours, err := readAll(flags.Args()[1:])
	if err != nil {
		fmt.Fprintln(errs, "research:", err)
		return 1
	}
	c := compare(theirs, ours, *verbose, out)
	fmt.Fprintln(out, c)
	if !c.ok() {
		return 1
	}
	return 0
}

func readAll(paths []string) ([]*file, error) {
	var files []*file
	for _, path := range paths {
		f, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, f)
	}
	return files, nil
}
