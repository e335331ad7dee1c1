package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// edge is a node of the graph for ninja and make.
type edge struct {
	out string
	in  []string
}

// edges returns the project's graph, with the dependencies that fevalgraph has for the same files.
func (s shape) edges() []edge {
	var all []edge
	for p := range s.problems {
		problem := problemName(p)
		files := s.testFiles(p)
		for c := range s.checkpoints {
			all = append(all, edge{"out/tests/" + problem + "/" + checkpointName(c), []string{files[0], files[c+1]}})
		}
		for n := range s.solutions {
			name := problem + "/" + solutionName(n)
			all = append(all, edge{"out/submission/" + name, sources(p, n)})
			for c := range s.checkpoints {
				at := name + "/" + checkpointName(c)
				all = append(all,
					edge{"out/pytest/" + at, []string{"out/tests/" + problem + "/" + checkpointName(c), "out/submission/" + name}},
					edge{"out/parse/" + at, []string{"out/pytest/" + at}},
					edge{"out/aggregate/" + at, []string{"out/parse/" + at}})
			}
		}
	}
	return all
}

// writeNinja writes the edges for ninja, which makes outputs by running command.
func writeNinja(path, command string, edges []edge) error {
	return writeLines(path, func(w *bufio.Writer) {
		fmt.Fprintf(w, "rule r\n  command = %s\n", command)
		for _, e := range edges {
			fmt.Fprintf(w, "build %s: r %s\n", e.out, strings.Join(e.in, " "))
		}
	})
}

// writeMake writes the edges for make. It does not create directories, since ninja did.
func writeMake(path string, edges []edge) error {
	return writeLines(path, func(w *bufio.Writer) {
		fmt.Fprint(w, "MAKEFLAGS += -rR\n.PHONY: all\nall:")
		for _, e := range edges {
			fmt.Fprintf(w, " m%s", e.out)
		}
		fmt.Fprintln(w)
		for _, e := range edges {
			in := make([]string, len(e.in))
			for i, name := range e.in {
				if strings.HasPrefix(name, "out/") {
					name = "m" + name
				}
				in[i] = name
			}
			fmt.Fprintf(w, "m%s: %s\n\t@: > $@\n", e.out, strings.Join(in, " "))
		}
	})
}

func writeLines(path string, write func(*bufio.Writer)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	write(w)
	return errors.Join(w.Flush(), f.Close())
}

// command runs a program, and prints its output only if it fails.
func command(dir string, env []string, name string, args ...string) (time.Duration, *syscall.Rusage, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	var said strings.Builder
	cmd.Stderr = &limited{&said, 4 << 10}
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil {
		return took, nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.String())
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return took, usage, nil
}

// limited passes only the first bytes.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.w.Write(p[:n])
	return len(p), nil
}

// lstatLoop measures the minimum of a run without work.
func lstatLoop(dir string, files []string) (time.Duration, error) {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(dir, f)
	}
	began := time.Now()
	var st syscall.Stat_t
	for _, path := range paths {
		if err := syscall.Lstat(path, &st); err != nil {
			return 0, &os.PathError{Op: "lstat", Path: path, Err: err}
		}
	}
	return time.Since(began), nil
}

// forkLoop measures the minimum of a run in which everything is stale: starting n commands and waiting for
// them.
func forkLoop(n, jobs int) (time.Duration, error) {
	program, err := exec.LookPath("true")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	var group sync.WaitGroup
	errs := make([]error, jobs)
	for j := range jobs {
		group.Go(func() {
			for i := j; i < n && errs[j] == nil; i += jobs {
				pid, err := syscall.ForkExec(program, []string{"true"}, &syscall.ProcAttr{})
				if err == nil {
					_, err = syscall.Wait4(pid, nil, 0, nil)
				}
				errs[j] = err
			}
		})
	}
	group.Wait()
	return time.Since(began), errors.Join(errs...)
}

// load returns the machine's load average of the last minute.
func load() float64 {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	value, err := strconv.ParseFloat(strings.Fields(string(content))[0], 64)
	if err != nil {
		return -1
	}
	return value
}
