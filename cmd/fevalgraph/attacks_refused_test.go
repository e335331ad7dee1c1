//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
)

// refusedAttacks are correct solutions with a file that no archive can contain. None may pass, or avoid a verdict. File
// is created next to the main file if a solution is a directory, and otherwise instead of it.
var refusedAttacks = []struct {
	name, file string
	problems   []string
	make       func(path string) error
}{
	{"link_out", "out", []string{"add"}, func(path string) error { return os.Symlink("../../../"+callersSecret, path) }},
	{"link_loop", "loop", []string{"add"}, func(path string) error { return os.Symlink("loop", path) }},
	{"odd_name", "a\xffb", []string{"add"}, func(path string) error { return os.WriteFile(path, nil, 0o644) }},
	{"fifo", "pipe", []string{"add", "grade", "judge"}, func(path string) error { return syscall.Mkfifo(path, 0o644) }},
	{"directory", "", []string{"judge"}, func(path string) error { return os.Mkdir(path, 0o755) }},
	{"too_large", "holes", []string{"add", "grade", "judge"}, func(path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 17<<20)) // the limit is 16 MiB
	}},
}

// layRefusedAttacks writes them among a problem's solutions in dir, and returns their names.
func layRefusedAttacks(t *testing.T, problem, dir string) (names []string) {
	t.Helper()
	for _, a := range refusedAttacks {
		if !slices.Contains(a.problems, problem) {
			continue
		}
		at := filepath.Join(dir, a.name)
		if err := os.CopyFS(at, os.DirFS(filepath.Join(dir, "right"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(at, a.file)
		if problem != "add" {
			file = filepath.Join(at, map[string]string{"grade": "main.py", "judge": "main.cpp"}[problem])
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.make(file); err != nil {
			t.Fatal(err)
		}
		names = append(names, a.name)
	}
	return names
}

// misjudged reports whether a cell is one of refusedAttacks and was not refused.
func misjudged(cell report.Cell) bool {
	for _, a := range refusedAttacks {
		if a.name == cell.Solution && cell.Checkpoints[0].Class != "refused" {
			return true
		}
	}
	return false
}
