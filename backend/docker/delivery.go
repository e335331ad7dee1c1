package docker

import (
	"context"
	"errors"
	"fmt"
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

// place returns the path of a session's workspace on this machine.
func (b *Backend) place(id string) (string, error) {
	scratch, err := b.scratch.Find()
	return filepath.Join(scratch, id), err
}

// copiesFiles reports whether files are copied into containers: a mount is faster, a copy works everywhere.
func (b *Backend) copiesFiles(ctx context.Context) (bool, error) {
	if b.opt.Copy || b.remoteFiles.Load() || !ownable(b.facts) {
		return true, nil
	}
	about, err := b.d.info(ctx)
	return err == nil && about.remapsOwners(), err
}

// ownable reports whether files created here can belong to the container's user.
func ownable(f *facts) bool {
	// On other systems the daemon runs in a virtual machine, which handles ownership.
	return runtime.GOOS != "linux" || os.Geteuid() == 0 || os.Geteuid() == f.uid
}

// daemonInfo is a daemon's report about itself.
type daemonInfo struct {
	id       string // of its installation
	engine   string // version
	platform string // "linux/x86_64"
	runtime  string // of containers, such as "runc"
	security []string
}

// info queries the daemon once.
func (d *Daemon) info(ctx context.Context) (*daemonInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.self == nil {
		ctx, cancel := d.ask(ctx)
		defer cancel()
		info, err := d.api.Info(ctx)
		if err != nil {
			return nil, fmt.Errorf("querying the daemon's version: %w", d.explain(err))
		}
		d.self = &daemonInfo{id: info.ID, engine: info.ServerVersion, platform: info.OSType + "/" + info.Architecture, runtime: info.DefaultRuntime, security: info.SecurityOptions}
	}
	return d.self, nil
}

// remapsOwners reports whether the daemon's containers see other owners of files than this machine, or cannot
// see its files without special settings: with rootless daemons, user namespaces, or SELinux.
func (a *daemonInfo) remapsOwners() bool {
	return a.hasSecurity("rootless") || a.hasSecurity("userns") || a.hasSecurity("selinux")
}

// hasSecurity reports whether the daemon uses a security option.
func (a *daemonInfo) hasSecurity(name string) bool {
	return slices.ContainsFunc(a.security, func(option string) bool { return strings.HasPrefix(option, "name="+name) })
}

// mounts returns the mounts of the session's container, or nil if its files are copied.
func (s *session) mounts() ([]mount.Mount, error) {
	top := s.b.opt.Workdir
	if s.work == nil && len(s.readOnly) == 0 {
		return nil, nil
	}
	if s.work == nil { // root could replace a directory of the container
		return []mount.Mount{{Type: mount.TypeVolume, Target: top, VolumeOptions: &mount.VolumeOptions{NoCopy: true}}}, nil
	}
	mounts := []mount.Mount{
		s.b.programMount(),
		{Type: mount.TypeBind, Source: s.work.Work(), Target: top},
		{Type: mount.TypeBind, Source: s.work.Home(), Target: homePath},
		{Type: mount.TypeBind, Source: s.work.Temp(), Target: tempPath},
	}
	for _, p := range s.places {
		mounts[1].Source = s.work.Temp() // otherwise commands could replace the source of the next mount
		source, _, err := s.work.Real(p.Path)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: source, Target: p.At})
	}
	sealed, err := s.work.Seal(s.readOnly...)
	if err != nil {
		return nil, err
	}
	for _, dir := range workspace.Above(s.readOnly) { // mounted directories cannot be replaced
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: path.Join(s.work.Work(), dir), Target: path.Join(top, dir)})
	}
	for i, source := range sealed {
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: source, Target: path.Join(top, s.readOnly[i]), ReadOnly: true})
	}
	return mounts, nil
}

// deliver starts the container on a network with all placed inputs. It creates the container if necessary.
func (s *session) deliver(ctx context.Context, on string) error {
	mounts, err := s.mounts()
	if err == nil && s.box.id == "" {
		err = s.box.create(ctx, s.blueprint(mounts), on)
		if errors.Is(err, errNoSource) && s.work != nil && (strings.Contains(err.Error(), s.work.Base()) || strings.Contains(err.Error(), s.b.opt.Program)) {
			// The daemon does not see this machine's files. The names are random, so if the daemon sees such
			// files, they are these.
			s.b.remoteFiles.Store(true)
			s.work.Close()
			s.work = nil
			return s.deliver(ctx, on)
		}
	} else if err == nil {
		if err = s.box.end(ctx); err == nil {
			err = s.box.connect(ctx, on)
		}
	}
	if err != nil {
		return err
	}
	spec := backend.Spec{Name: s.name, ReadOnly: s.readOnly, Places: s.places}
	if err := s.box.start(ctx, s.b.store, spec, s.b.opt.Grace); err != nil || s.work != nil {
		s.b.forget(err)
		return err
	}
	waiting := s.inputs
	if err := s.box.runner.Place(ctx, waiting...); err != nil {
		return s.box.runner.blame(ctx, err)
	}
	s.inputs = nil
	return nil
}
