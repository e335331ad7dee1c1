package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// checkedOut is a commit's files in a temporary directory. Files that git does not track are copied from the
// work tree.
type checkedOut struct {
	ref string
	dir string // real path; its parent directory must be removed
	top string // root of the repository's work tree; real path
}

// translate translates a path in the repository to the directory. Relative and other paths are unchanged.
func (c *checkedOut) translate(path string) string {
	if rel, ok := subpath.Rel(c.top, path); ok {
		return filepath.Join(c.dir, rel)
	}
	return path
}

// options returns options for the project at the commit. Its directory in the work tree counts as part of the
// project.
func (c *checkedOut) options(o *Options) (Options, error) {
	real, err := filepath.EvalSymlinks(options.Absolute(o.Dir))
	moved := *o
	moved.Dir, moved.File, moved.Within = c.translate(real), c.translate(o.File), append(slices.Clone(o.Within), real)
	return moved, err
}

// git runs git commands in a repository that can be hostile. None starts another program: hooks are disabled, files
// with filters refused, and objects not fetched.
type git struct {
	dir     string
	env     []string
	filters []string // names of the user's filter drivers
}

// run returns the output of a command.
func (g *git) run(ctx context.Context, args ...string) (string, error) {
	return g.feed(ctx, "", args...)
}

// feed returns the output of a command that reads input.
func (g *git) feed(ctx context.Context, input string, args ...string) (string, error) {
	args = append([]string{"--no-pager", "-C", g.dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "checkout.workers=0"}, args...)
	c := exec.CommandContext(ctx, "git", args...)
	// A partial clone fetches missing objects with a command of its configuration. git before 2.45 ignores GIT_NO_LAZY_FETCH.
	c.Env = append(c.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	c.Env = append(c.Env, g.env...)
	var said bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(input), &said
	out, err := c.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed")
	case context.Cause(ctx) != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", &gitError{text.FirstLine(said.String()), err}
	}
	return string(out), nil
}

// gitError reports that a command failed.
type gitError struct {
	said string
	err  error
}

func (e *gitError) Error() string {
	return fmt.Sprintf("%s (git: %v)", strings.TrimPrefix(e.said, "fatal: "), e.err)
}

func (e *gitError) Unwrap() error { return e.err }

// repository returns the repository that contains a directory. It returns an error if the repository configures
// commands.
func repository(ctx context.Context, dir string) (*git, error) {
	g := &git{dir: dir}
	top, err := g.run(ctx, "rev-parse", "--show-toplevel")
	var failed *gitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s is not in a git repository: %w", g.dir, err)
	}
	if err != nil {
		return nil, err
	}
	g.dir = strings.TrimSuffix(top, "\n")
	return g, g.noCommands(ctx)
}

// cleanRepository returns the repository of a project. Uncommitted changes are an error.
func cleanRepository(ctx context.Context, o *Options) (*git, error) {
	g, err := repository(ctx, options.Absolute(o.ProjectDir()))
	if err != nil {
		return nil, err
	}
	return g, g.clean(ctx)
}

// write writes the files of a commit to a temporary directory.
func (g *git) write(ctx context.Context, ref string) (c *checkedOut, err error) {
	commit, err := g.commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	if c, err = g.makeTempDir(ctx, ref, commit); err != nil {
		return nil, err
	}
	if err := g.fill(ctx, c, nil); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

// commit returns the name of a commit.
func (g *git) commit(ctx context.Context, ref string) (string, error) {
	commit, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	var failed *gitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("the repository has no such commit (hint: a shallow clone lacks old commits; `git fetch --unshallow` fetches them)")
	}
	return strings.TrimSpace(commit), err
}

// makeTempDir makes a temporary directory for files of a commit.
func (g *git) makeTempDir(ctx context.Context, ref, commit string) (c *checkedOut, err error) {
	dir, err := os.MkdirTemp("", "fevalgraph-since-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	c = &checkedOut{ref: ref, dir: filepath.Join(dir, "tree"), top: g.dir}
	if err = os.Mkdir(c.dir, 0o755); err != nil {
		return nil, err
	}
	if _, err = c.git(g).run(ctx, "read-tree", commit); err == nil {
		err = c.git(g).unfiltered(ctx)
	}
	return c, err
}

// git returns a repository with the commit's files as its index.
func (c *checkedOut) git(of *git) *git {
	return &git{dir: of.dir, filters: of.filters, env: []string{"GIT_INDEX_FILE=" + filepath.Join(filepath.Dir(c.dir), "index")}}
}

func (c *checkedOut) remove() error { return os.RemoveAll(filepath.Dir(c.dir)) }

// fill writes files of the commit. A nil set means all of them.
func (g *git) fill(ctx context.Context, c *checkedOut, paths *pathSet) error {
	at := c.git(g)
	args := []string{"checkout-index", "--force", "--prefix=" + c.dir + string(filepath.Separator)}
	if paths == nil {
		_, err := at.run(ctx, append(args, "--all")...)
		return err
	}
	names, err := at.run(ctx, "ls-files", "--full-name", "-z")
	if err != nil {
		return err
	}
	var wanted strings.Builder
	for name := range strings.SplitAfterSeq(names, "\x00") {
		if paths.contains(filepath.Join(c.top, filepath.FromSlash(strings.TrimSuffix(name, "\x00")))) {
			wanted.WriteString(name)
		}
	}
	_, err = at.feed(ctx, wanted.String(), append(args, "-z", "--stdin")...)
	return err
}

// changes returns the paths that differ between a commit and HEAD.
func (g *git) changes(ctx context.Context, commit string) (*changes, error) {
	c := &changes{top: g.dir, all: newPathSet(nil), layout: newPathSet(nil)}
	if folds, err := g.run(ctx, "config", "--type=bool", "--default=false", "core.ignorecase"); err != nil || strings.TrimSpace(folds) != "false" {
		c.whole = true // paths of the configuration can be written otherwise
	}
	all, err := g.run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", commit, "HEAD")
	if err != nil {
		return nil, err
	}
	for len(all) > 0 {
		about, rest, _ := strings.Cut(all, "\x00")
		name, next, ok := strings.Cut(rest, "\x00")
		modes := strings.Fields(strings.TrimPrefix(about, ":"))
		if !ok || len(modes) < 2 {
			return nil, fmt.Errorf("git diff-tree prints %q", about)
		}
		c.add(filepath.Join(g.dir, filepath.FromSlash(name)), modes[0], modes[1])
		all = next
	}
	return c, nil
}

// clean returns an error that names uncommitted changes.
func (g *git) clean(ctx context.Context) error {
	if err := g.unfiltered(ctx); err != nil {
		return err
	}
	changed, err := g.run(ctx, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames", "-z")
	if err != nil || changed == "" {
		return err
	}
	var names []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(changed, "\x00"), "\x00") {
		names = append(names, entry[min(3, len(entry)):])
	}
	return fmt.Errorf("uncommitted changes of %s: only commits can be compared (hint: commit or stash them, or call `fevalgraph plan` without --since)", text.Some(names, 3))
}

// noCommands returns an error if the repository configures commands that git can run for files, or has submodules,
// whose files are not compared. It remembers the filters of the user's own configuration.
func (g *git) noCommands(ctx context.Context) error {
	if _, err := os.Lstat(filepath.Join(g.dir, ".gitmodules")); err == nil {
		return errors.New("the repository has submodules, which are not supported")
	}
	all, err := g.run(ctx, "config", "--show-scope", "--includes", "--name-only", "-z", "--get-regexp", `^(filter\..*\.(clean|smudge|process)|hook\..*\.command)$`)
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() == 1 { // no such setting
		return nil
	}
	fields := strings.Split(all, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope, name := fields[i], fields[i+1]
		if scope == "local" || scope == "worktree" {
			return fmt.Errorf("the repository's configuration has the command %s, which fevalgraph does not run", name)
		}
		if filter, ok := strings.CutPrefix(name[:strings.LastIndexByte(name, '.')], "filter."); ok && !slices.Contains(g.filters, filter) {
			g.filters = append(g.filters, filter)
		}
	}
	return err
}

// unfiltered returns an error if git would run a filter for a file of the index. Even filters of the user's own can
// run commands that the repository configures, as git-lfs does.
func (g *git) unfiltered(ctx context.Context) error {
	if len(g.filters) == 0 {
		return nil
	}
	names, err := g.run(ctx, "ls-files", "--full-name", "-z")
	if err != nil {
		return err
	}
	attributes, err := g.feed(ctx, names, "check-attr", "--stdin", "-z", "filter")
	fields := strings.Split(attributes, "\x00")
	for i := 0; i+2 < len(fields); i += 3 { // path, attribute, value
		if slices.Contains(g.filters, fields[i+2]) {
			return fmt.Errorf("git's filter %s applies to %s; fevalgraph runs no filters", fields[i+2], fields[i])
		}
	}
	return err
}

// largestCopy is the maximum size of copied files, in bytes; larger ones are linked.
const largestCopy = 16 << 20

// copyUntracked brings what git does not track of some paths, such as data that is not committed, from the work tree. A
// nil set means all paths. The state directory is left out.
func (g *git) copyUntracked(ctx context.Context, c *checkedOut, state string, paths *pathSet) error {
	all, err := g.run(ctx, "ls-files", "--others", "--directory", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(all, "\x00") {
		if name = filepath.FromSlash(strings.TrimSuffix(name, "/")); name == "" {
			continue
		}
		err := filepath.WalkDir(filepath.Join(c.top, name), func(from string, e fs.DirEntry, err error) error {
			at := c.translate(from)
			switch {
			case err != nil:
				return err
			case from == state, from == filepath.Dir(c.dir), e.IsDir() && paths != nil && !paths.touches(from):
				return filepath.SkipDir
			case context.Cause(ctx) != nil:
				return context.Cause(ctx)
			case paths != nil && !paths.contains(from):
				return nil
			case e.IsDir():
				return os.MkdirAll(at, 0o755)
			}
			if _, err := os.Lstat(at); err == nil {
				return nil // also part of the commit
			}
			return copyOrLink(from, at, e)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyOrLink copies or links a file, or copies a symbolic link.
func copyOrLink(from, at string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(to, at)
	}
	if !info.Mode().IsRegular() || info.Size() > largestCopy {
		return os.Symlink(from, at)
	}
	content, err := os.Open(from)
	if err != nil {
		return err
	}
	defer content.Close()
	to, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	return errors.Join(err, to.Close())
}
