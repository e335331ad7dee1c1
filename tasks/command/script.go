package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/ending"
)

// scriptError returns the error of a script of the problem that no shell can run because
// its lines end with carriage returns. Words are those of the command that started it.
func (r *Run) scriptError(ctx context.Context, w *graph.Work, exit backend.Exit, dir string, words []string) error {
	if exit.Code != ending.ShellNotExecutable && exit.Code != ending.ShellNotFound {
		return nil
	}
	var names []string
	for _, word := range words {
		names = append(names, path.Join(dir, strings.Trim(word, `'";&|`)))
	}
	for _, input := range r.Inputs {
		tree, ok := w.Input(input, tasks.TreeOutput)
		if input == r.Own || !ok {
			continue
		}
		err := cache.WalkTree(ctx, w.Store, tree, func(e cache.Entry) error {
			if !e.Dir && e.Link == "" && slices.Contains(names, e.Path) {
				return checkScript(ctx, w.Store, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkScript returns an InputError if the first line of a script ends with a carriage return.
func checkScript(ctx context.Context, s cache.Store, e cache.Entry) error {
	f, err := s.Open(ctx, e.Digest)
	if err != nil {
		return fmt.Errorf("reading %s: %w", e.Path, err)
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return fmt.Errorf("reading %s: %w", e.Path, err)
	}
	line, _, ended := bytes.Cut(begin, []byte("\n"))
	if ended && bytes.HasSuffix(line, []byte("\r")) && !bytes.Contains(begin, []byte{0}) {
		return &graph.InputError{Err: fmt.Errorf("the problem's script %s cannot be run: line 1 ends with a carriage return (hint: save it with the line ends of Unix)", e.Path)}
	}
	return nil
}
