package command

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// The kinds of outputs in the language.
const (
	kindTree    = "tree"
	kindFile    = "file"
	kindMetrics = "metrics"
	kindAny     = "any"
)

// TaskOutput describes an output of a Task: a tree, a tree with a single file, or a JSON blob of metrics.
// The tree of kindAny has the file or directory as its only entry.
type TaskOutput struct {
	Name string
	Kind string
	Path string // relative to the directory of the Task
}

// Limits of an output. A task with a larger output fails.
const (
	maxOutputBytes   = 8 << 30
	maxOutputEntries = 1_000_000
	maxMetricsBytes  = 1 << 20
	maxMetrics       = 1000
)

// packing is generous, since it depends only on the disk.
const packing = 30 * time.Minute

// archiveName is the path of the tar archive of a directory, in the workspace.
const archiveName = ".fevalgraph-output.tar"

// keep stores the output.
func (o TaskOutput) keep(ctx context.Context, t *Task, session backend.Session, store cache.Store) (cache.Output, error) {
	at := path.Join(t.Directory, o.Path)
	if o.Kind == kindMetrics {
		return o.metrics(ctx, session, store, at)
	}
	entries, err := packed(ctx, t, session, store, at, o.Kind)
	if err != nil {
		return cache.Output{}, err
	}
	tree, err := cache.BuildTree(entries)
	if err != nil {
		return cache.Output{}, err
	}
	if err := tree.Store(ctx, store); err != nil {
		return cache.Output{}, fmt.Errorf("storing directories: %w", err)
	}
	return cache.Output{Name: o.Name, Digest: tree.Root, Tree: true}, nil
}

// failed returns an error that the command caused.
func failed(format string, args ...any) error {
	return &graph.FailedError{Err: fmt.Errorf(format, args...)}
}

// notCollected explains why a file is missing.
func notCollected(at string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed("the command did not create %s", at)
	case errors.Is(err, backend.ErrNotRegular):
		return failed("%s is not a regular file", at)
	}
	return fmt.Errorf("fetching %s: %w", at, err)
}

// metricName matches valid names of metrics.
var metricName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

// metrics stores an object of finite numbers; equal ones are equal bytes.
func (o TaskOutput) metrics(ctx context.Context, s backend.Session, store cache.Store, at string) (cache.Output, error) {
	content, err := session.Read(ctx, s, at, maxMetricsBytes)
	switch {
	case errors.Is(err, session.ErrLarge):
		return cache.Output{}, failed("%s is larger than %d MiB", at, maxMetricsBytes>>20)
	case err != nil:
		return cache.Output{}, notCollected(at, err)
	}
	values, err := parseMetrics(content)
	if err != nil {
		return cache.Output{}, failed("%s: %w", at, err)
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		return cache.Output{}, err
	}
	d, err := cache.PutBytes(ctx, store, encoded)
	return cache.Output{Name: o.Name, Digest: d}, err
}

func parseMetrics(content []byte) (map[string]float64, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(content, &values); err != nil || values == nil {
		return nil, errors.New("expected a JSON object of numbers")
	}
	if len(values) > maxMetrics {
		return nil, fmt.Errorf("it has %d metrics, more than %d", len(values), maxMetrics)
	}
	numbers := make(map[string]float64, len(values))
	for name, text := range values {
		var n *float64
		if err := json.Unmarshal(text, &n); err != nil || n == nil || math.IsInf(*n, 0) {
			return nil, fmt.Errorf("the value of %q is not a number", name)
		}
		if !metricName().MatchString(name) {
			return nil, fmt.Errorf("%q cannot name a metric", name)
		}
		numbers[name] = *n
	}
	return numbers, nil
}

// packed stores the files of an output. tar packs them in the session, since sessions collect files
// without their executable bits.
func packed(ctx context.Context, t *Task, in backend.Session, store cache.Store, at, kind string) ([]cache.Entry, error) {
	present, socket, err := pack(ctx, in, backend.Command{Env: t.Env.Variables()}, at, archiveName)
	switch {
	case err != nil:
		return nil, err
	case !present:
		return nil, failed("the command did not create %s", at)
	case socket != "":
		return nil, failed("%s is a socket, which cannot be stored: the command must remove it", socket)
	}
	u := unpacker{root: at, kind: kind, store: store, files: map[string]cache.Entry{}}
	return u.collect(ctx, in, archiveName)
}

// pack packs a path into an archive, with a command that runs like other, and reports whether the path
// exists. It returns the name of a socket, which tar omits. Files without permissions are a failure of the command.
func pack(ctx context.Context, in backend.Session, like backend.Command, at, archive string) (present bool, socket string, err error) {
	var said capped.Buffer
	like.Argv = []string{"/bin/sh", "-c", `rm -rf "$2" && if [ ! -e "$1" ] && [ ! -L "$1" ]; then exit 3; fi && LC_ALL=C tar -cf "$2" -- "$1"`, "sh", at, archive}
	like.Timeout, like.Output = packing, &said
	exit, err := in.Exec(ctx, like)
	switch {
	case err != nil:
		return false, "", fmt.Errorf("packing %s: %w", at, err)
	case exit.Code == 3:
		return false, "", nil
	case exit.Code == session.ShellNotFound:
		return false, "", fmt.Errorf("packing %s: %w", at, &backend.ToolError{Tool: "tar", Err: errors.New("program not found")})
	case exit.Code != 0 && !exit.TimedOut && unreadable(said.Bytes()) != "":
		return false, "", failed("%s cannot be read: the command must leave its outputs readable", unreadable(said.Bytes()))
	case exit.Code != 0 || exit.TimedOut:
		return false, "", fmt.Errorf("packing %s: %s: %s", at, session.Words("exit code", exit), session.LastLine(said.Bytes()))
	}
	socket, _ = ignoredSocket(said.Bytes())
	return true, socket, nil
}

// ignoredSocket finds the name of a socket that GNU's or BusyBox's tar reports and omits.
func ignoredSocket(said []byte) (name string, found bool) {
	for line := range strings.Lines(string(said)) {
		if name, found = strings.CutSuffix(strings.TrimSpace(line), ": socket ignored"); found {
			return strings.TrimPrefix(name, "tar: "), true
		}
	}
	return "", false
}

// deniedFile matches what GNU's and BusyBox's tar print about a file that the command made unreadable.
var deniedFile = lazyregexp.New(`(?m)^tar: (?:can't \w+ '(.*)'|(.*): Cannot \w+): Permission denied\s*$`)

// unreadable returns the name of a file that tar could not read for lack of permissions, or "".
func unreadable(said []byte) string {
	m := deniedFile().FindSubmatch(said)
	if m == nil {
		return ""
	}
	if name := string(m[1]) + string(m[2]); path.Base(name) != path.Base(archiveName) {
		return name
	}
	return ""
}

// unpacker stores the content of an archive. The archive is as untrusted as the command.
type unpacker struct {
	root  string
	kind  string // of the output
	store cache.Store
	found []cache.Entry
	files map[string]cache.Entry // by path, for hard links
	bytes int64
	// omit is called for an entry that trees cannot contain, which is then omitted; if nil, such an entry is a
	// failure of the command.
	omit func(why string)
}

// errOmitted is the error of an omitted entry.
var errOmitted = errors.New("left out")

// unfit returns the error of an entry that trees cannot contain.
func (u *unpacker) unfit(format string, args ...any) error {
	if u.omit == nil {
		return failed(format, args...)
	}
	u.omit(fmt.Sprintf(format, args...))
	return errOmitted
}

// collect stores the content of the archive at a path of the workspace.
func (u *unpacker) collect(ctx context.Context, in backend.Session, archive string) ([]cache.Entry, error) {
	f, err := in.Collect(ctx, archive)
	if err != nil {
		return nil, notCollected(archive, err)
	}
	defer f.Close()
	return u.all(ctx, tar.NewReader(f))
}

func (u *unpacker) all(ctx context.Context, archive *tar.Reader) ([]cache.Entry, error) {
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return u.found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the content of %s: %w", u.root, err)
		}
		var e cache.Entry
		rel, err := u.relative(h)
		if err == nil {
			e, err = u.entry(ctx, archive, h, rel)
		}
		switch {
		case errors.Is(err, errOmitted):
			continue
		case err != nil:
			return nil, err
		}
		if u.kind == kindAny && path.Clean(h.Name) != u.root {
			e.Path = path.Join(path.Base(u.root), rel)
		}
		u.found = append(u.found, e)
	}
}

// relative returns the path of an entry in the root, or in the directory of a root that is the only entry.
func (u *unpacker) relative(h *tar.Header) (rel string, err error) {
	name := path.Clean(h.Name)
	rel, inside := strings.CutPrefix(name, u.root+"/")
	switch {
	case name == u.root && u.kind != kindTree && h.Typeflag == tar.TypeReg, name == u.root && u.kind == kindAny && h.Typeflag == tar.TypeDir:
		rel = path.Base(u.root)
	case name == u.root && u.kind == kindAny:
		return "", u.unfit("%s is neither a file nor a directory", u.root)
	case name == u.root && u.kind == kindFile:
		return "", u.unfit("%s is not a regular file", u.root)
	case name == u.root && h.Typeflag == tar.TypeDir:
		return "", errOmitted
	case name == u.root:
		return "", u.unfit("%s is not a directory", u.root)
	case !inside:
		return "", fmt.Errorf("reading the content of %s: %q is outside of it", u.root, h.Name)
	case !utf8.ValidString(rel):
		return "", u.unfit("the name %q is not UTF-8", rel)
	}
	if u.bytes += max(0, h.Size); u.bytes > maxOutputBytes {
		return "", failed("it has more than %s", session.Size(maxOutputBytes))
	}
	if len(u.found) == maxOutputEntries {
		return "", failed("it has more than %d files", maxOutputEntries)
	}
	return rel, nil
}

func (u *unpacker) entry(ctx context.Context, archive *tar.Reader, h *tar.Header, rel string) (cache.Entry, error) {
	e := cache.Entry{Path: rel}
	switch h.Typeflag {
	case tar.TypeDir:
		e.Dir = true
	case tar.TypeSymlink:
		to := path.Join(path.Dir(rel), h.Linkname)
		if path.IsAbs(h.Linkname) || to == ".." || strings.HasPrefix(to, "../") {
			return e, u.unfit("%s is a link that points outside of it, to %q", rel, h.Linkname)
		}
		e.Link = h.Linkname
	case tar.TypeLink:
		same, ok := u.files[path.Clean(h.Linkname)]
		if !ok {
			return e, u.unfit("%s is a link to %q, which is not in it", rel, h.Linkname)
		}
		e.Digest, e.Executable = same.Digest, same.Executable
	case tar.TypeReg:
		d, err := u.store.Put(ctx, archive)
		if err != nil {
			return e, fmt.Errorf("storing %s: %w", rel, err)
		}
		e.Digest, e.Executable = d, h.Mode&0o111 != 0
		u.files[path.Clean(h.Name)] = e
	default:
		return e, u.unfit("%s is neither a file nor a directory nor a link", rel)
	}
	return e, nil
}

// ReadMetrics reads a stored output of metrics.
func ReadMetrics(ctx context.Context, store cache.Store, d cache.Digest) (map[string]float64, error) {
	content, err := cache.ReadBlob(ctx, store, d, maxMetricsBytes)
	if err != nil {
		return nil, err
	}
	var values map[string]float64
	return values, json.NewDecoder(bytes.NewReader(content)).Decode(&values)
}
