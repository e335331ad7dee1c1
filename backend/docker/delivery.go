package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

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
func (b *Backend) delivery(ctx context.Context, s *session, base string) (delivery, error) {
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
	return slices.ContainsFunc(a.security, func(option string) bool {
		return strings.HasPrefix(option, "name=rootless") || strings.HasPrefix(option, "name=userns") || strings.HasPrefix(option, "name=selinux")
	})
}
