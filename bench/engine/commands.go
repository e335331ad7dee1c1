package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// everyday is the size of the project of a group that evaluates a few models.
var everyday = shape{problems: 200, checkpoints: checkpointsEach, solutions: 20}

// compareCommands measures the commands that such a group uses most, next to a run without changes.
func compareCommands(o options) (*figures, error) {
	p, err := openShape(o, everyday)
	if err != nil {
		return nil, err
	}
	o.skip = "ninja,make"
	if err := p.bringUpToDate(o); err != nil {
		return nil, err
	}
	run := func(args ...string) func(int) (time.Duration, *syscall.Rusage, error) {
		return func(int) (time.Duration, *syscall.Rusage, error) {
			return command(p.dir, p.environ(), filepath.Join(p.bin, "fevalgraph"), append(args, "-j", fmt.Sprint(o.jobs))...)
		}
	}
	one := fmt.Sprintf("problem=p[%q]", problemName(1))
	f := &figures{name: o.name, nodes: p.nodes(), what: p.String()}
	f.contenders = []*contender{
		{name: "fevalgraph", run: run("run")},
		{name: "one solution added", run: func(round int) (time.Duration, *syscall.Rusage, error) {
			if err := p.addSolution(round); err != nil {
				return 0, nil, err
			}
			return run("run")(round)
		}},
		{name: "a selector", run: run("run", one)},
		{name: "--retry", run: run("run", "--retry", "broken,timeout,error")},
		{name: "results --format json", run: run("results", "--format", "json")},
		{name: "plan --json", run: run("plan", "--json")},
		{name: "status of one problem", run: run("status", one)},
		{name: "query of a file", run: run("query", fmt.Sprintf("rdeps(file:problems/%s/tests/conftest.py)", problemName(1)))},
		{name: "cache gc", run: run("cache", "gc", "--max-size", "1TiB")},
	}
	return f, f.measure(o.runs, nil)
}

// addSolution adds a solution to a problem, a different one in each round.
func (p *project) addSolution(round int) error {
	dir := filepath.Join(p.dir, "solutions", problemName(round%p.problems), fmt.Sprintf("added%d", time.Now().UnixNano()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "main.py"), []byte("# added\n"), 0o644)
}
