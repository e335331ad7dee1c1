package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docker/docker/api/types/mount"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Paths in the container, besides the workspace.
const (
	homePath   = "/fevalgraph/home"
	tempPath   = "/fevalgraph/tmp"
	blobsPath  = "/fevalgraph/blobs"
	hiddenPath = "/fevalgraph/work" // workspace that commands do not see
)

// session implements backend.Session.
type session struct {
	b        *Backend
	id       string
	name     string // for users
	keep     bool
	hostOOM  bool // the host ran out of memory for a command
	image    *resolvedImage
	snapshot *resolvedImage  // base snapshot; nil means none
	readOnly []string        // of the Spec
	places   []backend.Place // of the Spec
	facts    *facts
	box      box
	work     *workspace.Workspace // mounted workspace; nil if files are copied
	inputs   []backend.Input      // not yet in a container
	company  company
	closed   bool // everything was removed
}

var _ backend.Session = (*session)(nil)

// Open implements backend.Backend. The first command creates the container.
func (b *Backend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	image, found, err := b.resolve(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	var snapshot *resolvedImage
	if spec.Snapshot != "" {
		if snapshot, err = b.d.inspect(ctx, Options{Origin: Origin{Image: spec.Snapshot}}); err != nil {
			return nil, fmt.Errorf("opening session: %w", err)
		}
	}
	id := workspace.NewID()
	s := &session{b: b, id: id, name: spec.Name, image: image, snapshot: snapshot, readOnly: spec.ReadOnly, places: spec.Places, facts: found, box: b.newBox(id)}
	if err = s.register(false); err == nil {
		err = s.makeWorkspace(ctx, spec.Isolated)
	}
	if err == nil {
		err = s.Place(ctx, spec.Inputs...)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening session: %w", err), s.Close(ctx))
	}
	return s, nil
}

// makeWorkspace creates the mounted directory, unless files are copied.
func (s *session) makeWorkspace(ctx context.Context, alone bool) error {
	byCopy, err := s.b.copiesFiles(ctx)
	if err != nil || byCopy {
		return err
	}
	scratch, err := s.b.scratch.FindSuitable()
	if err != nil {
		return err
	}
	base := filepath.Join(scratch, s.id)
	var owner *workspace.Owner
	if os.Geteuid() == 0 {
		owner = &workspace.Owner{UID: s.facts.uid, GID: s.facts.gid}
	}
	if s.work, err = workspace.Make(base, s.b.store, owner); err == nil {
		s.work.Isolated = alone
	}
	return err
}

// register lists the session before it is created.
func (s *session) register(keep bool) error {
	base, err := s.b.place(s.id)
	if err != nil {
		return err
	}
	return s.b.register(backend.Entry{ID: s.id, Name: s.name, Workspace: base, Keep: keep})
}

// register lists an object before it is created.
func (b *Backend) register(e backend.Entry) error {
	if b.opt.Registry == nil {
		return nil
	}
	e.Kind, e.Host, e.Opened = Kind, b.d.host, time.Now().UTC()
	return b.opt.Registry.Add(e)
}

func (b *Backend) unregister(id string) error {
	if b.opt.Registry == nil {
		return nil
	}
	return b.opt.Registry.Remove(id)
}

// blueprint describes the session's container.
func (s *session) blueprint(mounts []mount.Mount) blueprint {
	image := s.image
	if s.snapshot != nil {
		image = s.snapshot
	}
	p := s.b.blueprint(image, s.id, s.name, mounts)
	p.copied = s.work == nil
	if p.copied && len(s.places) > 0 {
		p.first.Work = hiddenPath
	}
	return p
}

func (b *Backend) blueprint(image *resolvedImage, id, name string, mounts []mount.Mount) blueprint {
	labels := map[string]string{LabelProject: b.opt.Project, LabelRun: b.opt.Run, LabelSession: id, LabelNode: name, LabelWorkdir: b.opt.Workdir, LabelUser: b.user(b.image)}
	first := backend.Container{
		User: b.user(b.image), Work: b.opt.Workdir, Home: homePath, Temp: tempPath, Blobs: blobsPath, Capabilities: b.opt.Capabilities, Grace: b.opt.Grace,
	}
	if b.facts != nil { // otherwise this container is to find them
		first.Limits = b.facts.limits
	}
	return blueprint{image: image.id, first: first, labels: labels, mounts: mounts, opt: b.opt}
}

// Dir implements backend.Session.
func (s *session) Dir() string { return s.b.opt.Workdir }

// Place implements backend.Session. If the container does not run, the inputs are placed when it starts.
func (s *session) Place(ctx context.Context, inputs ...backend.Input) error {
	if s.closed {
		return fmt.Errorf("placing inputs: session: %w", fs.ErrClosed)
	}
	for _, in := range inputs {
		if name, err := workspace.Relative(in.Path); err != nil || name == "." && in.Tree.IsZero() {
			return fmt.Errorf("placing input %q: %w", in.Path, cmp.Or(err, errors.New("a file cannot be the workspace")))
		}
	}
	if s.work == nil && s.box.runner != nil {
		return s.box.runner.blame(ctx, s.box.runner.Place(ctx, inputs...))
	}
	if s.box.id == "" || s.work == nil {
		s.inputs = append(s.inputs, inputs...)
	}
	if s.work != nil {
		return s.work.Place(ctx, inputs...)
	}
	seen := map[cache.Output]bool{}
	for _, in := range inputs { // missing blobs must be detected now
		if in.Tree.IsZero() {
			continue
		}
		err := cache.EachBlob(ctx, s.b.store, cache.Output{Digest: in.Tree, Tree: true}, seen, func(o cache.Output) error {
			has, err := s.b.store.Has(ctx, o.Digest)
			if err == nil && !has {
				err = &cache.MissingError{Digest: o.Digest}
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("placing input %q: %w", in.Path, err)
		}
	}
	return nil
}

// copyingRunner returns the runner of a container into which files are copied.
func (s *session) copyingRunner(ctx context.Context) (*runner, error) {
	if s.box.runner == nil {
		if err := s.deliver(ctx, cmp.Or(s.box.network, noNetwork)); err != nil {
			return nil, err
		}
	}
	return s.box.runner, nil
}

// Collect implements backend.Session. No process of the session runs between
// two Execs.
func (s *session) Collect(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.closed {
		return nil, fmt.Errorf("collecting %q: session: %w", path, fs.ErrClosed)
	}
	if s.work != nil {
		return s.work.Collect(ctx, path)
	}
	r, err := s.copyingRunner(ctx)
	if err != nil {
		return nil, fmt.Errorf("collecting %q: %w", path, err)
	}
	file, err := r.Collect(ctx, path)
	return file, r.blame(ctx, err)
}

// List implements backend.Lister.
func (s *session) List(ctx context.Context, dir string, most int) ([]string, error) {
	if s.closed {
		return nil, fmt.Errorf("listing %q: session: %w", dir, fs.ErrClosed)
	}
	if s.work != nil {
		return s.work.List(ctx, dir, most)
	}
	r, err := s.copyingRunner(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing %q: %w", dir, err)
	}
	names, err := r.List(ctx, dir, most)
	return names, r.blame(ctx, err)
}

// Verify implements backend.Session.
func (s *session) Verify(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("verifying: session: %w", fs.ErrClosed)
	}
	if s.hostOOM {
		return backend.Spoiled(errors.New("the machine ran out of memory while a command ran, and the kernel killed something in the container"))
	}
	if s.work != nil {
		return backend.Spoiled(s.work.Verify())
	}
	if s.box.runner == nil {
		return nil
	}
	return backend.Spoiled(s.box.runner.blame(ctx, s.box.runner.Verify(ctx)))
}

// Exec implements backend.Session.
func (s *session) Exec(ctx context.Context, c backend.Command) (backend.Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return backend.Exit{}, err
	}
	if s.closed {
		return backend.Exit{}, fmt.Errorf("running a command: session: %w", fs.ErrClosed)
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return backend.Exit{}, errors.New("running a command: no program is specified")
	}
	on := s.b.opt.network(c.Online)
	if c.Offline {
		on = noNetwork
	}
	if s.snapshot != nil {
		c.Env = append([]string{"XDG_CACHE_HOME=" + homePath + "/.cache"}, c.Env...)
	}
	if c.At == "." {
		c.At = cmp.Or(s.image.workdir, "/")
	}
	err := s.box.checkUsable()
	if err == nil && !c.Offline && s.b.opt.hasCompanions() {
		on, err = s.accompany(ctx)
		c.Env = append(c.Env[:len(c.Env):len(c.Env)], s.b.opt.proxyVariables()...)
	}
	c.Env, c.Offline = s.environment(c.Env), on == noNetwork
	if err == nil {
		err = s.deliver(ctx, on)
	}
	var exit backend.Exit
	if err == nil && c.Attach {
		return s.box.attach(ctx, s.facts, s.Dir(), c)
	}
	if err == nil {
		watched := func() {}
		if s.work != nil {
			watched = s.work.Watch()
		}
		exit, err = s.box.runner.run(ctx, c)
		watched()
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return backend.Exit{}, err
	}
	if err != nil {
		return backend.Exit{}, fmt.Errorf("running %s: %w", c.Argv[0], err)
	}
	s.hostOOM = s.hostOOM || exit.OOM && s.b.opt.Memory == 0 // without a limit, a container exhausts its host's memory
	return s.b.reachedLimit(exit), nil
}

// reachedLimit returns the limit that an exit reached.
func (b *Backend) reachedLimit(exit backend.Exit) backend.Exit {
	if exit.OOM = exit.OOM && b.opt.Memory != 0; exit.OOM {
		exit.OOMLimit = b.opt.Memory
	}
	return exit
}

// environment returns the environment of a command. Commands that see the image's own paths, such as those
// with Places, also have its HOME.
func (s *session) environment(env []string) []string {
	if len(s.places) == 0 {
		return environment(s.image, env)
	}
	all := append(append([]string{}, s.image.env...), env...)
	if _, set := getenv(all, "PATH"); !set {
		all = append(all, "PATH="+defaultPath)
	}
	return all
}

// environment combines the environment of the image, of the command, and the variables of every session.
// The last value of a variable is effective.
func environment(image *resolvedImage, env []string) []string {
	all := append(append([]string{}, image.env...), env...)
	for _, place := range []struct{ name, path string }{{"HOME", homePath}, {"TMPDIR", tempPath}} {
		if _, set := getenv(env, place.name); !set {
			all = append(all, place.name+"="+place.path)
		}
	}
	if _, set := getenv(all, "PATH"); !set {
		all = append(all, "PATH="+defaultPath)
	}
	return all
}

// getenv returns the last value of name in env, which is the effective one.
func getenv(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(env[i], name+"="); found {
			return value, true
		}
	}
	return "", false
}

// defaultPath is the PATH in containers if neither image nor command sets it.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Close implements backend.Session. It can be called again after a failure; objects that it cannot remove
// stay in the registry for the next start.
func (s *session) Close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	if s.work != nil {
		s.work.Close()
	}
	err := s.discard(ctx)
	if err == nil {
		err = s.b.unregister(s.id)
	}
	if err != nil {
		return fmt.Errorf("closing session: %w", err)
	}
	s.closed = true
	return nil
}

// discard removes container and files, unless they must be kept.
func (s *session) discard(ctx context.Context) error {
	if s.keep {
		err := s.box.stop(ctx)
		if err == nil && s.box.id != "" && s.company.network != "" {
			err = s.box.connect(ctx, noNetwork)
		}
		return errors.Join(err, s.dismiss(ctx))
	}
	if err := s.box.discard(ctx); err != nil {
		return err
	}
	if err := s.dismiss(ctx); err != nil {
		return err
	}
	base, err := s.b.place(s.id)
	if err != nil {
		return err
	}
	return workspace.Remove(base)
}
