package docker

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/docker/docker/api/types/mount"
	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

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
	bind := func(source, target string) mount.Mount {
		return mount.Mount{Type: mount.TypeBind, Source: source, Target: target}
	}
	err := m.s.prepare(ctx, on, []mount.Mount{
		bind(m.work.Work(), m.s.b.opt.Workdir), bind(m.work.Home(), homePath), bind(m.work.Temp(), tempPath),
	})
	if !errors.Is(err, errNoSource) || !strings.Contains(err.Error(), m.base) {
		return err
	}
	m.s.b.apart.Store(true)
	m.s.files = &copied{s: m.s, base: m.base, staging: m.work}
	return m.s.files.deliver(ctx, on)
}

func (m *mounted) collect(ctx context.Context, name string) (io.ReadCloser, error) {
	return m.work.Collect(ctx, name)
}

func (m *mounted) verify() error { return m.work.Verify() }

func (m *mounted) let() { m.work.Close() }
