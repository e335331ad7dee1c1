package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/mount"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// delivery is how a session's files get into its container and out again.
type delivery interface {
	place(ctx context.Context, inputs ...backend.Input) error
	// deliver makes the container exist, on a network, with everything in it
	// that was placed.
	deliver(ctx context.Context, on string) error
	collect(ctx context.Context, name string) (io.ReadCloser, error)
	list(ctx context.Context, dir string, most int) ([]string, error)
	// verify does what backend.Session.Verify says about the files.
	verify() error
	// let lets go of open files. They may be removed then.
	let()
}

// place is where a session's workspace is on this machine.
func (b *Backend) place(id string) (string, error) {
	scratch, err := workspace.Scratch(b.opt.Scratch)
	return filepath.Join(scratch, id), err
}

// delivery chooses for a session: a mount is faster, a copy works everywhere.
func (b *Backend) delivery(ctx context.Context, s *session) (delivery, error) {
	base, err := b.place(s.id)
	if err != nil {
		return nil, err
	}
	byCopy := b.opt.Copy || b.apart.Load() || !ownable(s.facts)
	if !byCopy {
		about, err := b.d.about(ctx)
		if err != nil {
			return nil, err
		}
		byCopy = about.remaps()
	}
	if byCopy {
		return &copied{s: s, base: base}, nil
	}
	return newMounted(s, base)
}

// ownable reports whether files that are made here can belong to the
// container's user.
func ownable(f *facts) bool {
	// Elsewhere the daemon is in a virtual machine that sees to it.
	return runtime.GOOS != "linux" || os.Geteuid() == 0 || os.Geteuid() == f.uid
}

// about is what a daemon says of itself.
type about struct {
	id       string // of its installation
	engine   string // version
	platform string // "linux/x86_64"
	security []string
}

// about asks the daemon once.
func (d *Daemon) about(ctx context.Context) (*about, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.self == nil {
		ctx, cancel := d.ask(ctx)
		defer cancel()
		info, err := d.api.Info(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking the daemon about itself: %w", d.explain(err))
		}
		d.self = &about{id: info.ID, engine: info.ServerVersion, platform: info.OSType + "/" + info.Architecture, security: info.SecurityOptions}
	}
	return d.self, nil
}

// remaps reports whether the daemon's containers see other owners than this
// machine does, or may not see its files without being told to. That is so
// for daemons without root, with user namespaces, and under SELinux.
func (a *about) remaps() bool {
	return a.has("rootless") || a.has("userns") || a.has("selinux")
}

// has reports whether it has a means of security.
func (a *about) has(name string) bool {
	return slices.ContainsFunc(a.security, func(option string) bool { return strings.HasPrefix(option, "name="+name) })
}

// mounted delivers by mounting a directory of this machine.
type mounted struct {
	s    *session
	base string
	work *workspace.Workspace
}

func newMounted(s *session, base string) (*mounted, error) {
	var owner *workspace.Owner
	if os.Geteuid() == 0 {
		owner = &workspace.Owner{UID: s.facts.uid, GID: s.facts.gid}
	}
	work, err := workspace.Make(base, s.b.store, owner)
	if err != nil {
		return nil, err
	}
	return &mounted{s: s, base: base, work: work}, nil
}

func (m *mounted) place(ctx context.Context, inputs ...backend.Input) error {
	return m.work.Place(ctx, inputs...)
}

// deliver falls back to copying when the daemon does not see the directory.
// Its name is random, so one that it sees is this one.
func (m *mounted) deliver(ctx context.Context, on string) error {
	top := m.s.b.opt.Workdir
	mounts := []mount.Mount{
		{Type: mount.TypeBind, Source: m.work.Work(), Target: top},
		{Type: mount.TypeBind, Source: m.work.Home(), Target: homePath},
		{Type: mount.TypeBind, Source: m.work.Temp(), Target: tempPath},
	}
	for _, p := range m.s.places {
		mounts[0].Source = m.work.Temp() // else commands could move what is mounted next time
		source, _, err := m.work.Real(p.Path)
		if err != nil {
			return err
		}
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: source, Target: p.At})
	}
	sealed, err := m.work.Seal(m.s.readOnly...)
	if err != nil {
		return err
	}
	for _, dir := range workspace.Above(m.s.readOnly) { // mounted, they cannot be moved, and others put in their place
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: path.Join(m.work.Work(), dir), Target: path.Join(top, dir)})
	}
	for i, source := range sealed {
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: source, Target: path.Join(top, m.s.readOnly[i]), ReadOnly: true})
	}
	err = m.s.prepare(ctx, on, mounts)
	if !errors.Is(err, errNoSource) || !strings.Contains(err.Error(), m.base) {
		return err
	}
	if err := m.work.Unseal(); err != nil {
		return err
	}
	m.s.b.apart.Store(true)
	m.s.files = &copied{s: m.s, base: m.base, staging: m.work}
	return m.s.files.deliver(ctx, on)
}

func (m *mounted) collect(ctx context.Context, name string) (io.ReadCloser, error) {
	return m.work.Collect(ctx, name)
}

func (m *mounted) list(ctx context.Context, dir string, most int) ([]string, error) {
	return m.work.List(ctx, dir, most)
}

func (m *mounted) verify() error { return m.work.Verify() }

func (m *mounted) let() { m.work.Close() }
