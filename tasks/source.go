package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// FileStates returns digests of source files. The implementation is *cache.FileIndex.
type FileStates interface {
	Digest(path string, info fs.FileInfo) (cache.Digest, error)
}

// FilePutter stores a file. It returns a *cache.ChangedError if the content is not the expected one. The
// implementation is *cache.Disk.
type FilePutter interface {
	PutFile(ctx context.Context, path string, want *cache.Digest) (cache.Digest, error)
}

// Sources provides tasks with source files.
type Sources struct {
	States FileStates
	Store  FilePutter
	// Observe is called with everything that a source depends on besides the content of its files. With an
	// absolute path, kind "dir" is a listed directory, "link" a path that was checked for being a symbolic
	// link, "exists" the target of a path, and "file" a file that was read outside of the source; "fileset"
	// has an absolute directory, "\x00" and a pattern. It can be called concurrently, and can be nil.
	Observe func(kind, name string)
	// Submitted reports that the author of the source is judged: a defective source is refused instead of
	// being an error. Limits then apply.
	Submitted bool
	Limits    Limits
}

func (s Sources) observe(kind, name string) {
	if s.Observe != nil {
		s.Observe(kind, name)
	}
}

// TreeOutput is the name of a source task's only output, unless it is refused.
const TreeOutput = "tree"

// Source is a task that brings files into the content store as one tree. Its manifest lists all files and
// the entries omitted because of their kind, or the reason why a submission is refused; the manifest
// determines the output, so a plan can predict it.
type Source struct {
	sources Sources
	scan    func() ([]file, error)
	found   []file     // of the last Describe
	omitted []omission // of the last Describe
	refused string     // of the last Describe: the reason, or ""

	forgotten bool // since the last Describe
}

// file is an entry of a tree with the path of its content.
type file struct {
	cache.Entry
	abs string
	rel string // relative to the source; "" for the source itself
}

// Describe implements graph.Task. Unreadable files are input errors, except for a file that changes while
// it is hashed, and for defects that the author of a submission caused.
func (s *Source) Describe(_ context.Context, m *graph.Manifest) error {
	found, err := s.scan()
	s.found, s.refused, s.forgotten = found, "", false
	m.Int("recipe", 1)
	if err == nil {
		err = s.hash(found)
	}
	var wrong *unfit
	switch {
	case err == nil:
	case isRace(err):
		return err
	case s.sources.Submitted && errors.As(err, &wrong):
		s.refused = wrong.why
		m.String(graph.RefusedOutput, s.refused)
		return nil
	default:
		return &graph.InputError{Err: err}
	}
	for _, f := range found {
		m.String("file "+f.Path, describeEntry(f.Entry))
	}
	// They do not change outputs, but explain shows them.
	for _, o := range s.omitted {
		m.String("left out "+o.path, o.kind)
	}
	return nil
}

// hash fills in the digests of the regular files.
func (s *Source) hash(found []file) error {
	infos, bytes, err := s.stat(found)
	if err != nil {
		return err
	}
	return sideBySide(len(found), bytes, func(i int) (err error) {
		f := &found[i]
		if infos[i] == nil {
			return nil
		}
		if f.Digest, err = s.sources.States.Digest(f.abs, infos[i]); errors.Is(err, fs.ErrPermission) {
			s.sources.observe("file", f.abs) // it is read after that, as always
			f.Digest, err = s.sources.States.Digest(f.abs, infos[i])
		}
		if err != nil && !isRace(err) {
			return asUnfit(f.abs, f.rel, fmt.Errorf("hashing %s: %w", f.abs, err))
		}
		return err
	})
}

// stat returns the states of the regular files, and their total size. If files are too large, the states
// were observed before.
func (s *Source) stat(found []file) (infos []fs.FileInfo, bytes int64, err error) {
	for range 2 {
		infos, bytes = make([]fs.FileInfo, len(found)), 0
		for i, f := range found {
			if f.Dir || f.Link != "" {
				continue
			}
			if err != nil {
				s.sources.observe("file", f.abs)
			}
			info, err := os.Stat(f.abs)
			if err != nil {
				return nil, 0, asUnfit(f.abs, f.rel, err)
			}
			infos[i] = info
			bytes += info.Size()
		}
		if err = s.sources.Limits.check(found, infos, bytes); err == nil {
			break
		}
	}
	return infos, bytes, err
}

func describeEntry(e cache.Entry) string {
	switch {
	case e.Dir:
		return "directory"
	case e.Link != "":
		return "link to " + e.Link
	case e.Executable:
		return e.Digest.String() + " executable"
	}
	return e.Digest.String()
}

// Predict implements graph.Predictor.
func (s *Source) Predict() ([]cache.Output, error) {
	if s.refused != "" {
		return []cache.Output{{Name: graph.RefusedOutput, Digest: cache.SumBytes([]byte(s.refused))}}, nil
	}
	tree, err := s.tree()
	if err != nil {
		return nil, err
	}
	return []cache.Output{{Name: TreeOutput, Digest: tree.Root, Tree: true}}, nil
}

func (s *Source) tree() (*cache.Tree, error) {
	if s.forgotten { // and not an empty tree
		return nil, errForgotten
	}
	return cache.BuildTree(s.Found())
}

// errForgotten means that Run follows no Describe, for which no source is to blame.
var errForgotten = errors.New("building a tree of files that were forgotten")

// Run implements graph.Task: it stores the files that the store lacks, then
// the directories.
func (s *Source) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if o, refused, err := s.Refusal(ctx, w.Store); refused {
		return o, err
	}
	tree, err := s.tree()
	switch {
	case errors.Is(err, errForgotten):
		return graph.Outcome{}, err
	case err != nil:
		return graph.Outcome{}, &graph.InputError{Err: err}
	}
	if err := s.PutFound(ctx, w.Store); err != nil {
		return graph.Outcome{}, err
	}
	if err := tree.Store(ctx, w.Store); err != nil {
		return graph.Outcome{}, fmt.Errorf("storing directories: %w", err)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: TreeOutput, Digest: tree.Root, Tree: true}}}, nil
}

// Forget implements graph.Forgetter.
func (s *Source) Forget() { s.found, s.omitted, s.forgotten = nil, nil, true }

// Refusal returns the outcome of a submission that the last Describe refused; otherwise refused is false.
func (s *Source) Refusal(ctx context.Context, store cache.Store) (o graph.Outcome, refused bool, err error) {
	if s.refused == "" {
		return o, false, nil
	}
	o, err = session.Refuse(ctx, store, s.refused)
	return o, true, err
}

func (s *Source) put(ctx context.Context, store cache.Store, f file) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if ok, err := store.Has(ctx, f.Digest); err == nil && ok {
		return nil
	}
	if _, err := s.sources.Store.PutFile(ctx, f.abs, &f.Digest); err != nil {
		return fmt.Errorf("storing %s: %w", f.abs, err)
	}
	return nil
}
