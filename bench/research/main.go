// Command research compares two files of results of research problems, score by
// score: those of Frontier-CS's batches, and those of fevalgraph.
//
//	go run -C bench ./research [-v] [-again FILE]... REFERENCE RESULTS...
//
// REFERENCE is a batch's .state.<track>.json or results.csv. RESULTS are outputs
// of `fevalgraph results --format json`, or files of either kind that
// `export "frontier"` or a batch wrote. A state has scores as they are; a CSV
// has them rounded, and then the other side's are rounded for the comparison.
//
// An evaluation is equal when both sides have the same status, score and
// unbounded score. One that is different varies by itself when another RESULTS,
// or another file of the reference's that -again names, says something else
// than the first of its side. Every evaluation that is not equal has a line, with
// -v every one. What one side lacks is missing. Anything different or missing
// makes the exit code 1.
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
