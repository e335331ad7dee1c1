// Command remote measures the cost of a run on an engine for remote execution to the machine that runs fevalgraph:
//
//	bench/remote/scale -cells 100000 -j 4096 -took 10s
//
// A process on this machine stands in for the engine: it keeps blobs in memory, executes the first action of each
// kind, and returns its result for all others after the given duration. So only fevalgraph takes time, and the number
// of workers is not limited. Each cell is a command with a directory of -files files, which all cells share, and a
// different answer.
//
// It prints one line of JSON: processor time and memory of fevalgraph, and the transfers to the engine, for each cell.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// options configure a measurement.
type options struct {
	cells, jobs, files int
	took               time.Duration
	work               string
}

// figures are the measured values; calls and bytes are per cell.
type figures struct {
	Cells     int                `json:"cells"`
	Jobs      int                `json:"jobs"`
	Took      float64            `json:"took_s"`
	Seconds   float64            `json:"s"`
	Ideal     float64            `json:"ideal_s"` // if fevalgraph took no time
	CPU       float64            `json:"cpu_ms"`  // per cell
	MemoryMiB int64              `json:"memory_mib"`
	Sent      int64              `json:"sent"`
	Received  int64              `json:"received"`
	Calls     map[string]float64 `json:"calls"`
	Again     float64            `json:"again_s"` // a run without changes
}

func main() {
	var o options
	flag.IntVar(&o.cells, "cells", 1000, "cells")
	flag.IntVar(&o.jobs, "j", 256, "actions at once")
	flag.IntVar(&o.files, "files", 100, "files that all cells share")
	flag.DurationVar(&o.took, "took", time.Second, "how long each command takes")
	flag.StringVar(&o.work, "work", "", "directory that has fevalgraph, for the project and the store")
	flag.Parse()
	f, err := measure(o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote:", err)
		os.Exit(1)
	}
}

func measure(o options) (*figures, error) {
	program := filepath.Join(o.work, "fevalgraph")
	project := filepath.Join(o.work, "project")
	if err := writeProject(project, o); err != nil {
		return nil, err
	}
	e, err := startEngine(o.took)
	if err != nil {
		return nil, err
	}
	defer e.close()
	run := func() (time.Duration, *syscall.Rusage, error) {
		cmd := exec.Command(program, "run", "--progress", "none", fmt.Sprint("-j", o.jobs))
		cmd.Dir, cmd.Stderr = project, os.Stderr
		cmd.Env = append(os.Environ(), "FEVALGRAPH_CACHE_DIR="+filepath.Join(o.work, "store"), "FEVALGRAPH_VAR_endpoint="+e.front.address)
		began := time.Now()
		err := cmd.Run()
		if err != nil {
			return 0, nil, fmt.Errorf("fevalgraph run: %w", err)
		}
		return time.Since(began), cmd.ProcessState.SysUsage().(*syscall.Rusage), nil
	}
	took, usage, err := run()
	if err != nil {
		return nil, err
	}
	f := &figures{Cells: o.cells, Jobs: o.jobs, Took: o.took.Seconds(), Seconds: took.Seconds(), MemoryMiB: usage.Maxrss >> 10, Calls: map[string]float64{}}
	f.Ideal = o.took.Seconds() * float64((o.cells+o.jobs-1)/o.jobs)
	f.CPU = float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6 / float64(o.cells)
	f.Sent, f.Received = e.front.sent.Load()/int64(o.cells), e.front.received.Load()/int64(o.cells)
	for _, method := range methods {
		f.Calls[method] = float64(e.server.Calls("/"+method)) / float64(o.cells)
	}
	e.server.Forget()
	if took, _, err = run(); err != nil {
		return nil, err
	}
	f.Again = took.Seconds()
	if n := e.server.Calls("/Execute"); n > 0 {
		return nil, fmt.Errorf("a second run had %d actions executed", n)
	}
	return f, nil
}

// methods lists the methods that clients call.
var methods = []string{"GetActionResult", "FindMissingBlobs", "BatchUpdateBlobs", "BatchReadBlobs", "Read", "Write", "Execute", "WaitExecution"}
