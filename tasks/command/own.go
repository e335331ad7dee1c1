package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// The problem's program and the submission that it starts have the same user, so the submission can change
// files that the program reads later: a script, which a shell reads line by line, a module, data. If the
// backend supports it, the problem's files are read-only while the program runs; code is also compared
// afterwards.

// maxGuarded limits the number of the problem's files that are read-only and compared, and maxCode the
// size of a compared file.
const (
	maxGuarded = 100
	maxCode    = 1 << 20
)

// codeEndings are the extensions of files that interpreters run.
var codeEndings = []string{".bash", ".jl", ".js", ".lua", ".mjs", ".pl", ".py", ".R", ".r", ".rb", ".sh", ".ts"}

// guardedFiles lists the problem's files in the workspace, code first, except files that the submission
// replaces and the file with the score.
func (r *Run) guardedFiles(ctx context.Context, w *graph.Work) (code, data []cache.Entry, err error) {
	files, own := map[string]cache.Entry{}, map[string]bool{}
	for _, input := range r.Inputs {
		tree, ok := w.Input(input, tasks.TreeOutput)
		if !ok {
			return nil, nil, fmt.Errorf("dependency %q has no tree", input)
		}
		err := cache.WalkTree(ctx, w.Store, tree, func(e cache.Entry) error {
			delete(files, e.Path)
			own[e.Path] = input == r.Own && !e.Dir
			if input != r.Own && !e.Dir && e.Link == "" && e.Path != r.File {
				files[e.Path] = e
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	line := strings.Fields(r.line())
	for _, e := range files {
		if own[path.Dir(e.Path)] {
			continue // the submission is a file instead of this directory
		}
		if e.Executable || slices.Contains(codeEndings, path.Ext(e.Path)) || slices.ContainsFunc(line, func(word string) bool { return path.Join(r.Directory, word) == e.Path }) {
			code = append(code, e)
		} else {
			data = append(data, e)
		}
	}
	byPath := func(a, b cache.Entry) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(code, byPath)
	slices.SortFunc(data, byPath)
	code = code[:min(len(code), maxGuarded)]
	return code, data[:min(len(data), maxGuarded-len(code))], nil
}

// readOnly lists the files that commands cannot change. In a container it returns none, since the
// problem's own set-up commands could not change them, either, and might have to.
func (r *Run) readOnly(code, data []cache.Entry) []string {
	if r.Backend.Capabilities().OwnFiles && (r.OwnSetup || r.UV != nil) {
		return nil
	}
	var names []string
	for _, e := range slices.Concat(code, data) {
		names = append(names, e.Path)
	}
	return names
}

// findUnchanged returns the files that have the problem's content in the workspace, except large ones.
func findUnchanged(ctx context.Context, s *session.Session, files []cache.Entry) (same []cache.Entry, err error) {
	for _, e := range files {
		if e.Digest.Size > maxCode {
			continue
		}
		content, err := session.Read(ctx, s, e.Path, e.Digest.Size)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, backend.ErrNotRegular), errors.Is(err, session.ErrLarge):
		case err != nil:
			return nil, fmt.Errorf("fetching %s: %w", e.Path, err)
		case cache.SumBytes(content) == e.Digest:
			same = append(same, e)
		}
	}
	return same, nil
}

// firstRewritten returns the first file that differs from the problem's, or "".
func firstRewritten(ctx context.Context, s *session.Session, files []cache.Entry) (string, error) {
	same, err := findUnchanged(ctx, s, files)
	for _, e := range files {
		if e.Digest.Size <= maxCode && !slices.Contains(same, e) {
			return e.Path, err
		}
	}
	return "", err
}
