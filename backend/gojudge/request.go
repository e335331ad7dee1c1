package gojudge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Names of collected output. They cannot clash with files of a program's
// directory: output is collected through pipes, which create no files.
const (
	stdoutName = "stdout"
	stderrName = "stderr"
)

// textRoom is the maximum size in bytes of text that is included in a request,
// which is cheaper than a file.
const textRoom = 64 << 10

// loans are the files that one request uses.
type loans struct {
	c        *connection
	leases   []*lease
	ownFiles []string // files for this request only
}

func (l *loans) release() {
	for _, h := range l.leases {
		l.c.uploader.release(h)
	}
	for _, name := range l.ownFiles {
		l.c.destination.drop(name)
	}
}

// blob returns a file with content of the store, to be copied.
func (l *loans) blob(ctx context.Context, d cache.Digest) (wireFile, error) {
	h, err := l.c.uploader.acquire(ctx, d)
	if err != nil {
		return wireFile{}, err
	}
	l.leases = append(l.leases, h)
	return l.c.destination.file(h.name), nil
}

// content returns a file with the given content.
func (l *loans) content(ctx context.Context, content []byte) (wireFile, error) {
	if len(content) <= textRoom && utf8.Valid(content) {
		return text(string(content)), nil
	}
	return l.uploadOnce(ctx, bytes.NewReader(content))
}

func text(s string) wireFile { return wireFile{Content: &s} }

func (l *loans) uploadOnce(ctx context.Context, content io.Reader) (wireFile, error) {
	name, err := l.c.destination.put(ctx, content)
	if err != nil {
		return wireFile{}, err
	}
	l.ownFiles = append(l.ownFiles, name)
	return l.c.destination.file(name), nil
}

// stdin returns a file that the program gets opened, and could write to.
func (l *loans) stdin(ctx context.Context, d cache.Digest) (*wireFile, error) {
	var f wireFile
	var err error
	switch {
	case d.IsZero():
		f = text("")
	case l.c.sealed:
		f, err = l.blob(ctx, d)
	case d.Size <= textRoom:
		var b []byte
		if b, err = cache.ReadBlob(ctx, l.c.store, d, -1); err == nil {
			f, err = l.content(ctx, b)
		}
	default:
		var r io.ReadCloser
		if r, err = l.c.store.Open(ctx, d); err == nil {
			f, err = l.uploadOnce(ctx, r)
			r.Close()
		}
	}
	return &f, err
}

// request encodes programs as a request of go-judge.
func (l *loans) request(ctx context.Context, programs []backend.Program) (*wireRequest, error) {
	r := &wireRequest{Cmd: make([]wireCmd, len(programs))}
	for i := range programs {
		cmd, err := l.command(ctx, &programs[i])
		if err != nil {
			return nil, fmt.Errorf("program %d: %w", i, err)
		}
		r.Cmd[i] = *cmd
	}
	for i := range programs {
		from := programs[i].StdinFrom - 1
		if from < 0 {
			continue
		}
		r.Cmd[i].Files[0], r.Cmd[from].Files[1] = nil, nil
		r.Cmd[from].CopyOutCached = slices.DeleteFunc(r.Cmd[from].CopyOutCached, func(name string) bool { return name == stdoutName })
		r.PipeMapping = append(r.PipeMapping, wirePipe{In: wireEnd{from, 1}, Out: wireEnd{i, 0}})
	}
	return r, nil
}

func (l *loans) command(ctx context.Context, p *backend.Program) (*wireCmd, error) {
	stdin, err := l.stdin(ctx, p.Stdin)
	if err != nil {
		return nil, fmt.Errorf("its standard input: %w", err)
	}
	cmd := &wireCmd{
		Args: p.Argv, Env: p.Env,
		Files:    []*wireFile{stdin, collector(stdoutName, p.Limits.Stdout), collector(stderrName, p.Limits.Stderr)},
		CPULimit: int64(p.Limits.CPU), ClockLimit: int64(p.Limits.Clock),
		MemoryLimit: p.Limits.Memory, StackLimit: p.Limits.Stack, ProcLimit: p.Limits.Processes,
		AddressSpaceLimit: p.Limits.AddressSpace,
		CopyOutCached:     []string{stdoutName}, CopyOutMax: p.Limits.Kept,
	}
	if cmd.StackLimit == 0 {
		cmd.StackLimit = cmd.MemoryLimit
	}
	for _, f := range p.Files {
		var made wireFile
		if f.Digest.IsZero() {
			made, err = l.content(ctx, f.Content)
		} else {
			made, err = l.blob(ctx, f.Digest)
		}
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", f.Path, err)
		}
		if cmd.CopyIn == nil {
			cmd.CopyIn = map[string]wireFile{}
		}
		cmd.CopyIn[path.Clean(f.Path)] = made
	}
	for _, name := range p.Keep {
		cmd.CopyOutCached = append(cmd.CopyOutCached, path.Clean(name)+optional)
	}
	return cmd, nil
}

// optional is the suffix of names of files that can be missing.
const optional = "?"

func collector(name string, limit int64) *wireFile {
	return &wireFile{Name: name, Max: &limit, Pipe: true}
}

// check returns an error for a request that no sandbox could run, which is a bug of the
// caller.
func check(programs []backend.Program) error {
	if len(programs) == 0 {
		return errors.New("no program is specified")
	}
	read := map[int]bool{}
	for i := range programs {
		if err := checkProgram(&programs[i]); err != nil {
			return fmt.Errorf("program %d: %w", i, err)
		}
		from := programs[i].StdinFrom
		if from < 0 || from > len(programs) || from != 0 && read[from] {
			return fmt.Errorf("program %d reads from program %d, which does not exist or is already read", i, from-1)
		}
		read[from] = true
	}
	return nil
}

// directoryRoom limits a program's directory on a server that fevalgraph starts, in bytes. The
// directory is in memory, which counts towards the program's limit only with control groups.
const directoryRoom = 128 << 20

// checkRoom returns a backend.ErrNoRoom if the files of a program exceed directoryRoom.
func checkRoom(programs []backend.Program) error {
	const page = 4096
	for i := range programs {
		pages := int64(0)
		for _, f := range programs[i].Files {
			pages += (max(f.Digest.Size, int64(len(f.Content))) + page - 1) / page
		}
		if pages > directoryRoom/page-64 { // directories take space, too
			return fmt.Errorf("program %d: %w: %d bytes of at most %d", i, backend.ErrNoRoom, pages*page, int64(directoryRoom))
		}
	}
	return nil
}

func checkProgram(p *backend.Program) error {
	if len(p.Argv) == 0 || p.Argv[0] == "" {
		return errors.New("no program is specified")
	}
	names := map[string]bool{}
	for _, f := range p.Files {
		name := path.Clean(f.Path)
		switch {
		case !isInside(name):
			return fmt.Errorf("file %q: not a path inside the directory", f.Path)
		case names[name]:
			return fmt.Errorf("file %q is duplicated", f.Path)
		}
		names[name] = true
	}
	if !path.IsAbs(p.Argv[0]) && !names[path.Clean(p.Argv[0])] {
		return fmt.Errorf("starting %q: it is not one of the program's files", p.Argv[0])
	}
	for _, name := range p.Keep {
		if clean := path.Clean(name); !isInside(clean) || clean == stdoutName || clean == stderrName || strings.HasSuffix(name, optional) {
			return fmt.Errorf("keeping %q: not a path that can be kept", name)
		}
	}
	if p.Limits.CPU <= 0 || p.Limits.Clock <= 0 || p.Limits.Memory <= 0 || p.Limits.Processes <= 0 {
		return errors.New("a limit of processor time, time, memory or processes is missing")
	}
	return nil
}

// isInside reports whether a clean path is inside the directory.
func isInside(name string) bool {
	return name != "." && name != ".." && !path.IsAbs(name) && !strings.HasPrefix(name, "../") && !strings.ContainsRune(name, 0)
}
