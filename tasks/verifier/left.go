package verifier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Limits of the stored part of /logs/verifier. Files beyond them are omitted, except rewards.
const (
	maxFiles = 10_000
	maxFile  = 64 << 20
	maxAll   = 256 << 20
)

// scriptFiles contains the files that a script wrote, by paths relative to /logs/verifier.
type scriptFiles struct {
	files map[string][]byte
	large map[string]bool // that are beyond a limit
}

// collect reads the files that the script left.
func (r *Run) collect(ctx context.Context, s backend.Session, w *graph.Work) (scriptFiles, error) {
	l := scriptFiles{files: map[string][]byte{}, large: map[string]bool{}}
	lister, ok := s.(backend.Lister)
	if !ok {
		return l, errors.New("this backend does not list files")
	}
	first := r.verdictFiles()
	names, err := lister.List(ctx, logsDir, maxFiles)
	if errors.Is(err, backend.ErrManyFiles) { // relevant files are read, regardless of the program that wrote them
		w.Note(fmt.Sprintf("only files of %s that decide the verdict are kept: %v", logsPlace, err))
		names, err = first, nil
	}
	if err != nil {
		return l, fmt.Errorf("reading %s: %w", logsPlace, err)
	}
	// Files that decide the verdict are read first, before other files use up the limits.
	rank := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	room := int64(maxAll)
	for _, name := range names {
		inside := strings.TrimPrefix(name, logsDir+"/")
		if !utf8.ValidString(name) { // trees cannot contain it, and a solution can write it
			w.Note(fmt.Sprintf("%s/%q is not kept: its name is not valid UTF-8", logsPlace, inside))
			continue
		}
		content, err := session.Read(ctx, s, name, min(room, maxFile))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, backend.ErrNotRegular):
			continue
		case errors.Is(err, session.ErrLarge):
			l.large[inside] = true
			w.Note(fmt.Sprintf("%s/%s is too large to be kept", logsPlace, inside))
			continue
		case err != nil:
			return l, fmt.Errorf("reading %s/%s: %w", logsPlace, inside, err)
		}
		room -= int64(len(content))
		l.files[inside] = content
	}
	return l, r.follow(ctx, s, l)
}

// follow reads the target of a reward that is a link to a file next to it, if no other reward
// exists.
func (r *Run) follow(ctx context.Context, s backend.Session, l scriptFiles) error {
	for _, reward := range []string{rewardJSON, rewardText} {
		if _, there := l.files[reward]; there || l.large[reward] {
			return nil
		}
	}
	for _, reward := range []string{rewardJSON, rewardText} {
		var target capped.Buffer
		command := r.command()
		command.Output, command.Argv, command.Timeout = &target, []string{"/bin/sh", "-c", `readlink "$1"`, "sh", logsPlace + "/" + reward}, time.Minute
		exit, err := s.Exec(ctx, command)
		if err != nil {
			return fmt.Errorf("reading the link %s/%s: %w", logsPlace, reward, err)
		}
		beside := strings.TrimSuffix(strings.TrimPrefix(string(target.Bytes()), logsPlace+"/"), "\n")
		if exit.Code != 0 {
			continue
		}
		content, there := l.files[beside]
		if !there && fs.ValidPath(beside) && path.Dir(beside) == "." && beside != "." { // other files might have used up the limits
			switch content, err = session.Read(ctx, s, logsDir+"/"+beside, maxReward); {
			case err == nil:
				there = true
			case errors.Is(err, session.ErrLarge):
				l.large[reward] = true
				return nil
			case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, backend.ErrNotRegular):
				return fmt.Errorf("reading %s/%s: %w", logsPlace, beside, err)
			}
		}
		if there {
			l.files[reward] = content
			return nil
		}
	}
	return nil
}

// verdictFiles returns the names of files that a verdict can depend on, rewards first.
func (r *Run) verdictFiles() []string {
	files := []string{rewardJSON, rewardText, "ctrf.json"}
	for _, rule := range r.BrokenIf {
		files = append(files, rule.File)
	}
	var names []string
	for _, file := range files {
		if name := logsDir + "/" + file; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// keepFiles stores the files, with secrets masked.
func (r *Run) keepFiles(t *trial, l scriptFiles) {
	var entries []cache.Entry
	for name, content := range l.files {
		d, err := cache.PutBytes(t.Ctx, t.Store, backend.RedactBytes(content, r.Env.Secrets()))
		if err != nil {
			t.Err = fmt.Errorf("storing %s/%s: %w", logsPlace, name, err)
			return
		}
		entries = append(entries, cache.Entry{Path: name, Digest: d})
	}
	slices.SortFunc(entries, func(a, b cache.Entry) int { return strings.Compare(a.Path, b.Path) })
	tree, err := cache.BuildTree(entries)
	if err == nil {
		err = tree.Store(t.Ctx, t.Store)
	}
	if err != nil {
		t.Err = fmt.Errorf("storing the files of the verifier: %w", err)
		return
	}
	t.Outcome.Outputs = append(t.Outcome.Outputs, cache.Output{Name: OutputFiles, Digest: tree.Root, Tree: true})
}
