package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// compareCold measures a first run of as many commands as solutions, at the defaults.
func compareCold(o options) (*figures, error) {
	dir, err := os.MkdirTemp(o.work, "cold-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	edges := make([]edge, o.nodes)
	for i := range edges {
		edges[i].out = fmt.Sprintf("out/%03d/%06d", i/1000, i)
	}
	f := &figures{name: o.name, nodes: o.nodes, what: fmt.Sprintf("commands, %d at once", o.jobs)}
	var ninja string
	f.contenders = []*contender{
		{name: "fevalgraph", run: func(round int) (time.Duration, *syscall.Rusage, error) {
			project := filepath.Join(dir, fmt.Sprint("f", round))
			if err := writeColdProject(project, o.nodes); err != nil {
				return 0, nil, err
			}
			env := append(os.Environ(), "HOME="+project, "FEVALGRAPH_CACHE_DIR="+filepath.Join(project, "store"))
			return command(project, env, filepath.Join(o.bin, "fevalgraph"), "run", "--quiet", "-j", fmt.Sprint(o.jobs))
		}},
		{name: "ninja", run: func(round int) (time.Duration, *syscall.Rusage, error) {
			ninja = filepath.Join(dir, fmt.Sprint("n", round))
			if err := os.MkdirAll(ninja, 0o755); err != nil {
				return 0, nil, err
			}
			if err := writeNinja(filepath.Join(ninja, "build.ninja"), "true > $out", edges); err != nil {
				return 0, nil, err
			}
			return command(ninja, os.Environ(), "ninja", "--quiet", fmt.Sprint("-j", o.jobs))
		}},
		{name: "fork loop", run: func(int) (time.Duration, *syscall.Rusage, error) {
			took, err := forkLoop(o.nodes, o.jobs)
			return took, nil, err
		}},
		{name: "lstat loop", run: func(int) (time.Duration, *syscall.Rusage, error) {
			if ninja == "" {
				return 0, nil, nil // it was first in the round that does not count
			}
			files := make([]string, len(edges))
			for i, e := range edges {
				files[i] = e.out
			}
			took, err := lstatLoop(ninja, files)
			return took, nil, err
		}},
	}
	f.leaveOut(o.skip)
	return f, f.measure(o.runs, nil)
}

// writeColdProject writes a problem whose command scores a solution, and a solution for each command.
func writeColdProject(dir string, commands int) error {
	files := map[string]string{"fevalgraph.hcl": coldConfiguration, "grade/README": ""}
	for i := range commands {
		files[fmt.Sprintf("solutions/%06d", i)] = fmt.Sprintln(i)
	}
	return writeFiles(dir, files)
}

const coldConfiguration = `problem "p" {
  command {
    root     = "grade"
    solution = "answer"
    argv     = ["echo", "1"]
  }
}
solution "s" {
  for_each = toset(fileset("solutions", "*"))
  name     = each.key
  problem  = problem.p
  source   = "solutions/${each.key}"
}
`
