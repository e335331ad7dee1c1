// Command engine measures the cost of the engine next to ninja, make and a lower bound for any such tool:
//
//	bench/engine/compare --nodes N --case noop|edit|cold|hash|asset|start|commands|remote [--json] [--runs 5] [-j N] [--mib N]
//
// The cases noop and edit run the real `fevalgraph run` on a project in HCL: P problems with five checkpoints and S
// solutions of four files each, found by fileset and for_each. A stand-in for uv and uvx runs its tests: it writes
// the report of one passed test, so that only the engine takes time. ninja and make get a graph of the same nodes and
// edges over the same files. The lower bound is a loop of lstat over the source files in this process, without
// starting one and without reading the list.
//
//	noop   nothing changed
//	edit   one file of one solution changed; next to its parts: a run right after it, without changes, and the
//	       duration of its work according to its record
//	cold   the first `fevalgraph run`, at the defaults, of a problem whose command is "echo 1" with N solutions,
//	       next to N commands `true` of ninja; the lower bound is a loop that starts as many and waits for them,
//	       with the same concurrency
//	hash   N MiB of new sources are described, next to a loop of SHA-256 over the same files with the same
//	       concurrency, and sha256sum
//	asset  sessions of backend/local with an asset of N MiB, next to the same with a hundredth of it
//	commands  the usual commands of a group, on 200 problems with 20 solutions each: a solution added, a selector,
//	       --retry, results, plan, plan --since, status, gc
//	remote a run without a state directory and with an empty store, over a bazel-remote that has all results and a
//	       latency of -latency, next to one whose store has the results
//	start  `fevalgraph validate` of a project of 50 files, next to `fevalgraph version`, and a process that does
//	       nothing
//
// Contenders take turns, in another order in each round, and all figures are medians. The first round does not count.
// With -json, the last line is one object:
//
//	{"case":"noop","nodes":N,"fevalgraph_s":x,"ninja_s":y,"lstat_s":z,"ratio":x/y}
//
// The ratio is the one to ninja, or to sha256_s or small_s if present. The object for an edit also has noop_s,
// work_s, and in of_noop_and_work its ratio to their sum.
//
// It does not judge the ratio, and exits with 1 only if something fails.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// options are the options of a comparison.
type options struct {
	work, bin string
	name      string // of the case
	nodes     int
	runs      int
	jobs      int
	mib       int
	command   string // instead of run: plan, status ...
	skip      string // contenders to leave out

	bazelRemote string
	latency     time.Duration
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "engine-hash" { // a separate process, like the other contenders
		fail(hashChild(os.Args[2:]))
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "engine-asset" {
		fail(assetChild(os.Args[2:]))
		return
	}
	o := options{}
	flag.StringVar(&o.work, "work", filepath.Join(os.TempDir(), "fevalgraph-bench-engine"), "directory for programs and projects")
	flag.StringVar(&o.name, "case", "noop", "noop, edit, cold, hash, asset, start, commands or remote")
	flag.IntVar(&o.nodes, "nodes", 10_000, "nodes of the graph, about")
	flag.IntVar(&o.runs, "runs", 5, "rounds that are counted")
	flag.IntVar(&o.jobs, "j", runtime.NumCPU(), "commands at once")
	flag.IntVar(&o.mib, "mib", 0, "MiB of sources (hash, 2048) or of the asset (asset, 500)")
	flag.StringVar(&o.command, "command", "run", "what fevalgraph is to do: run, plan, status, or explain of one node")
	flag.StringVar(&o.skip, "skip", "", "peers to leave out, such as make")
	flag.StringVar(&o.bazelRemote, "bazel-remote", "", "program of the server (remote)")
	flag.DurationVar(&o.latency, "latency", time.Millisecond, "time to the server and back (remote)")
	asJSON := flag.Bool("json", false, "print one JSON object as the last line")
	flag.Parse()
	work, err := filepath.Abs(o.work)
	fail(err)
	o.work, o.bin = work, filepath.Join(work, "bin")
	fail(compare(o, *asJSON, os.Stdout))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
}

func compare(o options, asJSON bool, out io.Writer) error {
	if o.nodes < 1 || o.runs < 1 || o.jobs < 1 {
		return errors.New("-nodes, -runs and -j must be at least 1")
	}
	var f *figures
	var err error
	switch o.name {
	case "noop", "edit":
		f, err = compareProject(o)
	case "cold":
		f, err = compareCold(o)
	case "hash":
		f, err = compareHash(o)
	case "asset":
		f, err = compareAsset(o)
	case "start":
		f, err = compareStart(o)
	case "commands":
		f, err = compareCommands(o)
	case "remote":
		f, err = compareRemote(o)
	default:
		err = fmt.Errorf("-case %s: want noop, edit, cold, hash, asset, start, commands or remote", o.name)
	}
	if err != nil {
		return err
	}
	f.write(out)
	if asJSON {
		return json.NewEncoder(out).Encode(f.line())
	}
	return nil
}
