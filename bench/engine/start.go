package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// startFiles is the number of files in the project of --case start.
const startFiles = 50

// emptyProcess is the name of the comparison.
const emptyProcess = "true"

// compareStart measures the fixed costs of a call: starting the program, and reading a configuration of many
// files.
func compareStart(o options) (*figures, error) {
	dir, err := os.MkdirTemp(o.work, "start-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writeStartProject(dir); err != nil {
		return nil, err
	}
	program := filepath.Join(o.bin, "fevalgraph")
	env := append(os.Environ(), "HOME="+dir)
	run := func(name string, args ...string) func(int) (time.Duration, *syscall.Rusage, error) {
		return func(int) (time.Duration, *syscall.Rusage, error) { return command(dir, env, name, args...) }
	}
	f := &figures{name: o.name, nodes: startFiles, what: fmt.Sprintf("a project of %d files", startFiles), contenders: []*contender{
		{name: "fevalgraph", run: run(program, "validate")},
		{name: "its version", run: run(program, "version")},
		{name: emptyProcess, run: run("true")},
	}}
	return f, f.measure(o.runs, nil)
}

// writeStartProject writes a problem with a solution to each file, except the first, which includes the others.
func writeStartProject(dir string) error {
	for i := range startFiles {
		part := fmt.Sprintf("p%02d", i)
		files := map[string]string{
			part + ".hcl":             fmt.Sprintf(startConfiguration, part),
			part + "/tests/test_a.py": "def test_a(): pass\n",
			part + "/s/main.py":       "",
		}
		if i == 0 {
			files = map[string]string{"fevalgraph.hcl": "fevalgraph {\n  include = [\"p*.hcl\"]\n}\n"}
		}
		if err := writeFiles(dir, files); err != nil {
			return err
		}
	}
	return nil
}

const startConfiguration = `problem "%[1]s" {
  title = "Problem %[1]s"
  tags  = ["a", "b"]
  entry = "python main.py"

  pytest {
    root     = "%[1]s/tests"
    requires = ["requests", "numpy"]
  }

  checkpoint "a" {
    tests = ["test_a.py"]
  }

  pass { policy = "core-cases" }
}

solution "s%[1]s" {
  problem = problem.%[1]s
  source  = "%[1]s/s"
  labels  = { model = "none" }
}
`
