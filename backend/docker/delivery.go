package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
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
		remapped, err := b.d.remaps(ctx)
		if err != nil {
			return nil, err
		}
		byCopy = remapped
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

// remaps reports whether the daemon's containers see other owners than this
// machine does, or may not see its files without being told to. That is so
// for daemons without root, with user namespaces, and under SELinux.
func (d *Daemon) remaps(ctx context.Context) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.security == nil {
		ctx, cancel := d.ask(ctx)
		defer cancel()
		info, err := d.api.Info(ctx)
		if err != nil {
			return false, fmt.Errorf("asking the daemon about itself: %w", d.explain(err))
		}
		d.security = append([]string{}, info.SecurityOptions...)
	}
	for _, option := range d.security {
		for _, name := range []string{"name=rootless", "name=userns", "name=selinux"} {
			if strings.HasPrefix(option, name) {
				return true, nil
			}
		}
	}
	return false, nil
}
