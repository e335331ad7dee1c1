package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// attempt describes a command that failed.
type attempt struct {
	line, dir string // line for a shell; its working directory
	first     bool   // no command ran before it
	exit      backend.Exit
}

// scriptError returns the error if a shell could not run a script of the problem: it is
// not executable, its lines end with carriage returns, or the machine lacks its
// interpreter. It examines the script and the machine, never output, which a submission
// could write, too.
func (r *Run) scriptError(ctx context.Context, w *graph.Work, s *session.Session, a attempt) error {
	if a.exit.Code != session.ShellNotExecutable && a.exit.Code != session.ShellNotFound {
		return nil
	}
	started := map[string]bool{} // by path: whether the shell itself starts it
	for _, word := range strings.Fields(a.line) {
		started[path.Join(a.dir, strings.Trim(word, `'";&|`))] = false
	}
	for _, word := range session.Commands(a.line) {
		started[path.Join(a.dir, word)] = strings.Contains(word, "/")
	}
	for _, input := range r.Inputs {
		tree, ok := w.Input(input, tasks.TreeOutput)
		if input == r.Own || !ok {
			continue
		}
		err := cache.WalkTree(ctx, w.Store, tree, func(e cache.Entry) error {
			starts, named := started[e.Path]
			if e.Dir || e.Link != "" || !named {
				return nil
			}
			if starts && a.first && !e.Executable {
				return cannotRun(e.Path, "it is not executable (hint: chmod +x, or name its interpreter)")
			}
			interpreter, err := interpreterOf(ctx, w.Store, e)
			if err != nil || !starts || interpreter == "" {
				return err
			}
			lacks, err := s.Lacks(ctx, interpreter, a.exit)
			if err == nil && lacks != "" {
				err = fmt.Errorf("the problem's script %s cannot be run: %s", e.Path, lacks)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func cannotRun(script, why string) error {
	return &graph.InputError{Err: fmt.Errorf("the problem's script %s cannot be run: %s", script, why)}
}

// interpreterOf returns the programs that the first line of a script names, as a line for
// a shell, or "". If this line ends with a carriage return, it returns an InputError.
func interpreterOf(ctx context.Context, s cache.Store, e cache.Entry) (string, error) {
	f, err := s.Open(ctx, e.Digest)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", e.Path, err)
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", e.Path, err)
	}
	first, _, ended := bytes.Cut(begin, []byte("\n"))
	if ended && bytes.HasSuffix(first, []byte("\r")) && !bytes.Contains(begin, []byte{0}) {
		return "", cannotRun(e.Path, "line 1 ends with a carriage return (hint: save it with Unix line endings)")
	}
	after, found := strings.CutPrefix(string(first), "#!")
	words := strings.Fields(after)
	if !found || len(words) == 0 {
		return "", nil
	}
	if path.Base(words[0]) == "env" && len(words) == 2 {
		return words[0] + "; " + words[1], nil
	}
	return words[0], nil
}

// line returns the program as a line for a shell.
func (r *Run) line() string {
	if len(r.Argv) == 3 && r.Argv[0] == "/bin/sh" && r.Argv[1] == "-c" {
		return r.Argv[2]
	}
	return strings.Join(r.Argv, " ")
}
