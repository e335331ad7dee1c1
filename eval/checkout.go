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

// checkedOut is a commit's files in a temporary directory. All else on the way from the root of the file system to the
// repository are links there, so that relative paths out of the repository lead to the same files.
type checkedOut struct {
	base string // stands for the root of the file system; real path
	dir  string // the work tree below base
	top  string // root of the repository's work tree; real path
}

// translate translates an absolute path in the repository, or that links lead there, to the directory. Other paths are
// unchanged.
func (c *checkedOut) translate(path string) string {
	if subpath.Contains(c.base, path) {
		return path
	}
	for at := path; !subpath.Contains(c.top, path); at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil { // at is the longest path that exists
			rest, _ := subpath.Rel(at, path)
			if real = filepath.Join(real, rest); !subpath.Contains(c.top, real) {
				return path
			}
			return c.below(real)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
	return c.below(path)
}

// below returns the path below base that stands for an absolute path.
func (c *checkedOut) below(path string) string {
	return filepath.Join(c.base, strings.TrimPrefix(path, filepath.VolumeName(path)))
}

// options returns options for the project at the commit. Its directory in the work tree counts as part of the
// project. Paths in the directories asIs are not translated.
func (c *checkedOut) options(o *Options, asIs ...string) (Options, error) {
	real, err := filepath.EvalSymlinks(options.Absolute(o.Dir))
	moved := *o
	moved.Dir, moved.Within = c.translate(real), append(slices.Clone(o.Within), real)
	if o.File != "" {
		moved.File = c.translate(options.Absolute(o.Path(o.File)))
	}
	moved.Moved = func(path string) string {
		if slices.ContainsFunc(asIs, func(dir string) bool { return subpath.Contains(dir, path) }) {
			return path
		}
		return c.translate(path)
	}
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

// commit returns the name of a commit.
func (g *git) commit(ctx context.Context, ref string) (string, error) {
	commit, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	var failed *gitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("the repository has no such commit (hint: a shallow clone lacks old commits; `git fetch --unshallow` fetches them)")
	}
	return strings.TrimSpace(commit), err
}

// checkOut writes the files of a commit to a temporary directory.
func (g *git) checkOut(ctx context.Context, ref string) (c *checkedOut, err error) {
	commit, err := g.commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	base, err := os.MkdirTemp("", "fevalgraph-since-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(base))
		}
	}()
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	c = &checkedOut{base: filepath.Join(base, "root"), top: g.dir}
	c.dir = c.below(g.dir)
	if err = os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, err
	}
	c.linkOutside()
	at := &git{dir: g.dir, filters: g.filters, env: []string{"GIT_INDEX_FILE=" + filepath.Join(base, "index")}}
	if _, err = at.run(ctx, "read-tree", commit); err == nil {
		err = at.unfiltered(ctx)
	}
	if err == nil {
		_, err = at.run(ctx, "checkout-index", "--force", "--prefix="+c.dir+string(filepath.Separator), "--all")
	}
	return c, err
}

// linkOutside links everything next to the repository, and next to the directories that contain it. Directories that cannot be
// listed are left out.
func (c *checkedOut) linkOutside() {
	for at := c.top; at != filepath.Dir(at); at = filepath.Dir(at) {
		entries, _ := os.ReadDir(filepath.Dir(at))
		for _, e := range entries {
			if path := filepath.Join(filepath.Dir(at), e.Name()); path != at {
				_ = os.Symlink(path, c.below(path)) // without it, a path is not found
			}
		}
	}
}

func (c *checkedOut) remove() error { return os.RemoveAll(filepath.Dir(c.base)) }

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

// copyUntracked brings what git does not track, such as data that is not committed, from the work tree. The state directory
// and unreadable files are left out. Where the commit has another kind of file, that stays; its links are not followed.
func (g *git) copyUntracked(ctx context.Context, c *checkedOut, state string) error {
	all, err := g.run(ctx, "ls-files", "--others", "--directory", "-z")
	if err != nil {
		return err
	}
	to, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer to.Close()
	if real, err := filepath.EvalSymlinks(state); err == nil {
		state = real
	}
	for name := range strings.SplitSeq(all, "\x00") {
		if name = filepath.FromSlash(strings.TrimSuffix(name, "/")); name == "" {
			continue
		}
		err := filepath.WalkDir(filepath.Join(c.top, name), func(from string, e fs.DirEntry, err error) error {
			at, _ := subpath.Rel(c.top, from)
			switch {
			case errors.Is(err, fs.ErrPermission):
				return nil
			case err != nil:
				return err
			case e.IsDir() && (from == state || from == filepath.Dir(c.base) || shadowed(to, at)):
				return filepath.SkipDir
			case context.Cause(ctx) != nil:
				return context.Cause(ctx)
			case e.IsDir():
				return to.MkdirAll(at, 0o755)
			}
			if _, err := to.Lstat(at); err == nil || shadowed(to, at) {
				return nil // also part of the commit
			}
			if err := linkOrCopy(to, from, at, e); !errors.Is(err, fs.ErrPermission) {
				return err
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("copying %s, which git does not track: %w", name, err)
		}
	}
	return nil
}

// shadowed reports whether a path, or a directory in it, exists and is not a directory.
func shadowed(to *os.Root, path string) bool {
	for at := path; at != "."; at = filepath.Dir(at) {
		if info, err := to.Lstat(at); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// linkOrCopy makes a hard link to a file, which is only read, or a copy where that is impossible. It copies symbolic links,
// and leaves out special files that cannot be linked. at must not be shadowed.
func linkOrCopy(to *os.Root, from, at string, e fs.DirEntry) error {
	if err := to.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if e.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return to.Symlink(target, at)
	}
	if os.Link(from, filepath.Join(to.Name(), at)) == nil || !e.Type().IsRegular() {
		return nil
	}
	content, err := os.Open(from)
	if err != nil {
		return err
	}
	defer content.Close()
	info, err := content.Stat()
	if err != nil {
		return err
	}
	copied, err := to.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, content)
	return errors.Join(err, copied.Close())
}
