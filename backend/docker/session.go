package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/docker/docker/api/types/mount"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// Places in the container, beside the workspace.
const (
	homePath = "/fevalgraph/home"
	tempPath = "/fevalgraph/tmp"
)

// session implements backend.Session.
type session struct {
	b        *Backend
	id       string
	name     string // for people
	keep     bool
	hostOOM  bool // the host had no memory for a command
	image    *resolved
	snapshot *resolved       // that it is on; nil for none
	readOnly []string        // of the Spec
	places   []backend.Place // likewise
	facts    *facts
	box      box
	files    delivery
	closed   bool // nothing is left
}

var _ backend.Session = (*session)(nil)

// Open implements backend.Backend. The container is made by the first command.
func (b *Backend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	image, found, err := b.resolve(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	var snapshot *resolved
	if spec.Snapshot != "" {
		if snapshot, err = b.d.inspect(ctx, Options{Image: spec.Snapshot}); err != nil {
			return nil, fmt.Errorf("opening session: %w", err)
		}
	}
	id := workspace.NewID()
	s := &session{b: b, id: id, name: spec.Name, keep: spec.Keep, image: image, snapshot: snapshot, readOnly: spec.ReadOnly, places: spec.Places, facts: found, box: b.newBox(id, found.told)}
	if err = s.register(s.keep); err == nil {
		s.files, err = b.delivery(ctx, s)
	}
	if err == nil {
		err = s.Place(ctx, spec.Inputs...)
	}
	if err != nil {
		s.keep = false
		return nil, errors.Join(fmt.Errorf("opening session: %w", err), s.Close(ctx))
	}
	return s, nil
}

// register lists the session as it is about to be.
func (s *session) register(keep bool) error {
	base, err := s.b.place(s.id)
	if err != nil {
		return err
	}
	return s.b.register(backend.Entry{ID: s.id, Name: s.name, Workspace: base, Keep: keep})
}

// register lists what is about to be made.
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

// blueprint is what the session's container is made of.
func (s *session) blueprint(mounts []mount.Mount) blueprint {
	image := s.image
	if s.snapshot != nil {
		image = s.snapshot
	}
	return s.b.blueprint(image, s.id, s.name, s.keep, mounts)
}

func (b *Backend) blueprint(image *resolved, id, name string, keep bool, mounts []mount.Mount) blueprint {
	labels := map[string]string{LabelProject: b.opt.Project, LabelRun: b.opt.Run, LabelSession: id, LabelNode: name, LabelWorkdir: b.opt.Workdir}
	if keep {
		labels[LabelKeep] = "true"
	}
	return blueprint{image: image.id, user: b.user(b.image), labels: labels, mounts: mounts, opt: b.opt}
}

// Dir implements backend.Session.
func (s *session) Dir() string { return s.b.opt.Workdir }

// Place implements backend.Session.
func (s *session) Place(ctx context.Context, inputs ...backend.Input) error {
	if s.files == nil {
		return fmt.Errorf("placing inputs: session: %w", fs.ErrClosed)
	}
	return s.files.place(ctx, inputs...)
}

// Collect implements backend.Session. No process of the session runs between
// two Execs.
func (s *session) Collect(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.files == nil {
		return nil, fmt.Errorf("collecting %q: session: %w", path, fs.ErrClosed)
	}
	return s.files.collect(ctx, path)
}

// List implements backend.Lister.
func (s *session) List(ctx context.Context, dir string, most int) ([]string, error) {
	if s.files == nil {
		return nil, fmt.Errorf("listing %q: session: %w", dir, fs.ErrClosed)
	}
	return s.files.list(ctx, dir, most)
}

// Verify implements backend.Session.
func (s *session) Verify(context.Context) error {
	if s.files == nil {
		return fmt.Errorf("verifying: session: %w", fs.ErrClosed)
	}
	if s.hostOOM {
		return backend.Spoiled(errors.New("the machine ran out of memory while a command ran, and the kernel killed something in the container"))
	}
	return backend.Spoiled(s.files.verify())
}

// Exec implements backend.Session.
func (s *session) Exec(ctx context.Context, c backend.Command) (backend.Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return backend.Exit{}, err
	}
	if s.files == nil {
		return backend.Exit{}, fmt.Errorf("running a command: session: %w", fs.ErrClosed)
	}
	on := s.b.opt.network(c.Online)
	if c.Offline {
		on = noNetwork
	}
	env := c.Env
	if s.snapshot != nil {
		env = append([]string{"XDG_CACHE_HOME=" + homePath + "/.cache"}, env...)
	}
	if c.At == "." {
		c.At = cmp.Or(s.image.workdir, "/")
	}
	l := launch{top: s.b.opt.Workdir, command: c, env: s.environment(env), offline: on == noNetwork, attached: c.Attach}
	if s.facts.told && !c.Attach {
		l.token = rand.Text()
	}
	script, err := l.script()
	if err != nil {
		return backend.Exit{}, fmt.Errorf("running a command: %w", err)
	}
	if err := s.files.deliver(ctx, on); err != nil {
		return backend.Exit{}, fmt.Errorf("running %s: %w", c.Argv[0], err)
	}
	if c.Attach {
		return s.box.attach(ctx, script, c.Timeout)
	}
	res, err := s.box.run(ctx, job{script: script, limit: c.Timeout, grace: s.b.opt.Grace, out: c.Output, errs: c.Errors, token: l.token})
	if err == nil {
		err = refusal(res.word, c)
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return backend.Exit{}, err
	}
	if err != nil {
		return backend.Exit{}, fmt.Errorf("running %s: %w", c.Argv[0], err)
	}
	s.hostOOM = s.hostOOM || res.oom && s.b.opt.Memory == 0 // then a container runs out of its host's memory
	return s.b.exit(res), nil
}

// environment is that of a command. Commands that see the image's own places, as those with
// Places do, have its HOME as well.
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

// prepare makes the container, with mounts, or puts it on another network.
func (s *session) prepare(ctx context.Context, on string, mounts []mount.Mount) error {
	if s.box.id == "" {
		return s.box.create(ctx, s.blueprint(mounts), on)
	}
	return s.box.connect(ctx, on)
}

// environment completes that of a command: the image's, the command's, and
// what every session adds. Of several values of a variable the last one counts.
func environment(image *resolved, env []string) []string {
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

// defaultPath is what containers get when neither image nor command say.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Close implements backend.Session. After a failure it may be called again;
// what could not be removed stays in the registry for the next start.
func (s *session) Close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	if s.files != nil {
		s.files.let()
	}
	err := s.discard(ctx)
	if err == nil {
		err = s.b.unregister(s.id)
	}
	if err != nil {
		return fmt.Errorf("closing session: %w", err)
	}
	s.files, s.closed = nil, true
	return nil
}

// discard removes container and files, unless they are to be kept.
func (s *session) discard(ctx context.Context) error {
	if s.keep {
		return s.box.stop(ctx)
	}
	if err := s.box.discard(ctx); err != nil {
		return err
	}
	base, err := s.b.place(s.id)
	if err != nil {
		return err
	}
	return workspace.Remove(base)
}
