package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Mount lists the content of a file or directory of this machine that commands of a backend see in place.
// Its only output, MountOutput, is that list; the files themselves can be large and are not stored.
//
// Commands see the files unchanged, so the list includes attributes that a copy would lose: all mode bits,
// and owners if they affect who can read. Links are listed by target, regardless of what the target is in
// a container.
type Mount struct {
	Name   string // for messages: "mount /data"
	Source string // absolute path
	Hint   string // tells the user how to keep it out of keys
	// Optional accepts a Source that does not exist.
	Optional bool
	// NoCaches omits the directories for compiled Python modules, which commands can change.
	NoCaches bool
	// NotDirectory is the reason to refuse a directory; "" accepts it.
	NotDirectory string
	States       FileStates
	// Observe is called with everything that the list depends on: kind "exists" as in Sources, and "state" for
	// each file, directory and link, including its mode and owner. It can be nil.
	Observe func(kind, name string)
	// RemoteHost returns the name of the machine that contains Source; nil means this machine.
	RemoteHost func() string

	list string // of the last Describe
}

// MountOutput is the name of Mount's output.
const MountOutput = "content"

// Describe implements graph.Task.
func (t *Mount) Describe(_ context.Context, m *graph.Manifest) error {
	entries, err := t.scan()
	if err != nil {
		return err
	}
	m.Int("recipe", 1)
	for _, e := range entries {
		m.String("file "+e.path, e.is)
	}
	t.list = listing(entries)
	return nil
}

// Predict implements graph.Predictor.
func (t *Mount) Predict() ([]cache.Output, error) {
	return []cache.Output{{Name: MountOutput, Digest: cache.SumBytes([]byte(t.list))}}, nil
}

// Run implements graph.Task.
func (t *Mount) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	d, err := cache.PutBytes(ctx, w.Store, []byte(t.list))
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("storing the content of the mount: %w", err)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: MountOutput, Digest: d}}}, nil
}

// Unchanged returns an error if the mount has changed since it was described: a result of a command that
// read a changed file is useless. It is safe for concurrent use.
func (t *Mount) Unchanged() error {
	if t.list == "" { // a pinned node: its recorded states were compared
		return nil
	}
	entries, err := t.scan()
	if err != nil {
		return fmt.Errorf("reading the %s again: %w", t.Name, err)
	}
	if now := listing(entries); now != t.list {
		return fmt.Errorf("the %s changed during the run: %s (hint: run again; if the commands themselves write there, %s)", t.Name, t.difference(now), t.Hint)
	}
	return nil
}

// difference lists the entries that differ from the list of Describe.
func (t *Mount) difference(now string) string {
	before, after := strings.SplitAfter(t.list, "\n"), strings.SplitAfter(now, "\n")
	count := map[string]int{}
	for _, line := range before {
		count[line]++
	}
	var differ []string
	for _, line := range after {
		if count[line]--; count[line] < 0 {
			differ = append(differ, line)
		}
	}
	for _, line := range before {
		if count[line] > 0 {
			differ = append(differ, line)
		}
	}
	var paths []string
	for _, line := range differ {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			continue
		}
		rel, _ := strconv.Unquote(quoted)
		if path := filepath.Join(t.Source, rel); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	const shown = 3
	if more := len(paths) - shown; more > 0 {
		paths = append(paths[:shown], fmt.Sprintf("%d more", more))
	}
	return strings.Join(paths, ", ")
}

// mountEntry is an entry of a mount.
type mountEntry struct {
	path string // below the source, "." is the source itself
	is   string // everything that commands can observe of it
}

func listing(entries []mountEntry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%q %s\n", e.path, e.is)
	}
	return b.String()
}

// scan lists the mount in lexical order. Unreadable files are input errors, except for a file that changes
// while it is hashed.
func (t *Mount) scan() ([]mountEntry, error) {
	if t.RemoteHost != nil {
		if where := t.RemoteHost(); where != "" {
			return nil, &graph.InputError{Err: fmt.Errorf(`%s: %s is on another machine, of %s, and cannot be read here (hint: %s)`, t.Name, t.Source, where, t.Hint)}
		}
	}
	source, observe := t.Source, Sources{Observe: t.Observe}.observe
	observe("exists", source)
	for dir := source; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			observe("state", dir)
		}
	}
	// The daemon also follows links in the path of a source.
	root, err := filepath.EvalSymlinks(source)
	if errors.Is(err, fs.ErrNotExist) && t.Optional {
		return []mountEntry{{".", "absent"}}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &graph.InputError{Err: fmt.Errorf("%s: %s not found (hint: source must be an existing path on the daemon's machine)", t.Name, t.Source)}
	}
	if err != nil {
		return nil, &graph.InputError{Err: fmt.Errorf("%s: %w", t.Name, err)}
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() && t.NotDirectory != "" {
		observe("state", root)
		return nil, &graph.InputError{Err: fmt.Errorf("%s: %s is a directory, %s", t.Name, t.Source, t.NotDirectory)}
	}
	var entries []mountEntry
	var errs []error
	err = filepath.WalkDir(root, func(abs string, d fs.DirEntry, err error) error {
		if t.NoCaches && err == nil && d.IsDir() && d.Name() == "__pycache__" {
			return fs.SkipDir
		}
		var is string
		observe("state", abs)
		if err == nil {
			is, err = t.describe(abs, d)
		}
		if isRace(err) {
			return err
		}
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		rel, err := filepath.Rel(root, abs)
		entries = append(entries, mountEntry{filepath.ToSlash(rel), is})
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(errs) > 0 {
		return nil, &graph.InputError{Err: fmt.Errorf("%s: %w", t.Name, joinSome(errs))}
	}
	return entries, nil
}

func (t *Mount) describe(abs string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	if !utf8.ValidString(abs) {
		return "", fmt.Errorf("the file name %q is not valid UTF-8", abs)
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(abs)
		return fmt.Sprintf("link to %q", target), err
	case mode.IsDir():
		return "directory " + access(info), nil
	case mode.IsRegular():
		digest, err := t.States.Digest(abs, info)
		if err != nil {
			return "", fmt.Errorf("hashing %s: %w", abs, err)
		}
		return digest.String() + " " + access(info), nil
	default:
		return "", fmt.Errorf("%s is a %s, which cannot be hashed (hint: %s)", abs, cache.TypeName(mode.Type()), t.Hint)
	}
}

// access returns the mode, and the owner if others can do less than the owner or the group.
func access(info fs.FileInfo) string {
	mode := info.Mode()
	text := fmt.Sprintf("%04o", mode.Perm())
	for _, bit := range []struct {
		mode fs.FileMode
		name string
	}{{fs.ModeSetuid, " setuid"}, {fs.ModeSetgid, " setgid"}, {fs.ModeSticky, " sticky"}} {
		if mode&bit.mode != 0 {
			text += bit.name
		}
	}
	const readAndEnter = 0o5
	others := mode.Perm() & readAndEnter
	if mode.Perm()>>6&readAndEnter == others && mode.Perm()>>3&readAndEnter == others {
		return text
	}
	if uid, gid, ok := ownerOf(info); ok {
		text += fmt.Sprintf(" of %d:%d", uid, gid)
	}
	return text
}
