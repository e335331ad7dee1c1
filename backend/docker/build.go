package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/dockerfile"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Build configures how the image of a Backend is built, if it must be built.
type Build struct {
	Name string // of the Dockerfile, for users
	Args []Arg  // sorted by name
}

// Arg is an argument of a build. Its value is visible in the image.
type Arg struct{ Name, Value string }

// LabelImage marks images that were built. They have LabelProject, too.
const LabelImage = "fevalgraph.image"

// Ingredients returns what a build depends on besides the Dockerfile and its context: the platform, the
// arguments, and the base images, by their IDs. Missing images are fetched according to Options.Pull. A
// Dockerfile that cannot be read is a *backend.SettingError.
func (b *Backend) Ingredients(ctx context.Context, recipe []byte) (backend.Identity, error) {
	if b.err != nil {
		return nil, b.err
	}
	given := map[string]string{}
	for _, a := range b.opt.Build.Args {
		given[a.Name] = a.Value
	}
	names, err := dockerfile.Bases(recipe, given)
	if err != nil {
		return nil, b.wrongRecipe(err)
	}
	platform := b.opt.Platform
	if platform == "" {
		about, err := b.d.info(ctx)
		if err != nil {
			return nil, err
		}
		platform = about.platform
	}
	found := backend.Identity{{Label: "platform", Value: platform}}
	for _, a := range b.opt.Build.Args {
		found = append(found, backend.Field{Label: "build argument " + a.Name, Value: a.Value})
	}
	for _, name := range names {
		id, err := b.base(ctx, name)
		if err != nil {
			return nil, err
		}
		found = append(found, backend.Field{Label: "base " + name, Value: id})
	}
	return found, nil
}

// base returns the ID of a base image. With PullAlways, it is fetched once.
func (b *Backend) base(ctx context.Context, name string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := Options{Origin: Origin{Image: name, Platform: b.opt.Platform, Pull: b.opt.Pull}}
	if b.pulled[name] {
		o.Pull = PullMissing
	}
	image, err := b.d.resolve(ctx, o)
	if err != nil {
		return "", err
	}
	if b.pulled == nil {
		b.pulled = map[string]bool{}
	}
	b.pulled[name] = true
	return image.id, nil
}

// Build builds the image of later containers and returns a text that identifies its content: builds with
// equal content have equal texts. out receives the output of the build. An error in the recipe is a
// *backend.SettingError.
func (b *Backend) Build(ctx context.Context, r backend.Recipe, out io.Writer) (content []byte, err error) {
	if b.err != nil {
		return nil, b.err
	}
	id, err := b.build(ctx, r, out)
	if err != nil {
		return nil, err
	}
	if content, err = b.content(ctx, id); err != nil {
		return nil, err
	}
	image, err := b.adopt(ctx, id, content)
	if err != nil {
		return nil, err
	}
	b.use(image)
	return content, nil
}

// wrongRecipe wraps err in an error that the author of the Dockerfile must fix.
func (b *Backend) wrongRecipe(err error) error {
	return &backend.SettingError{Setting: "dockerfile", Err: fmt.Errorf("%s: %w", b.opt.Build.Name, err)}
}

// errImageRemoved means that an image was removed while the daemon used it for the build: an earlier step,
// or an image on the same base that the daemon compared a step with.
var errImageRemoved = errors.New("another client removed images during the build")

func (b *Backend) build(ctx context.Context, r backend.Recipe, out io.Writer) (id string, err error) {
	again := retry.Patience{For: b.d.wait.builds, Calls: 3, Pause: 50 * time.Millisecond, Longest: 2 * time.Second}
	err = again.Do(ctx, func(err error) bool { return errors.Is(err, errImageRemoved) }, func() (err error) {
		id, err = b.buildOnce(ctx, r, out)
		return err
	})
	return id, err
}

func (b *Backend) buildOnce(ctx context.Context, r backend.Recipe, out io.Writer) (id string, err error) {
	archive := NewContext(ctx, b.store, r)
	defer archive.Close()
	args := map[string]*string{}
	for _, a := range slices.Concat(proxies(b.opt.Env), b.opt.Build.Args) {
		args[a.Name] = &a.Value
	}
	answer, err := b.d.api.ImageBuild(ctx, archive, build.ImageBuildOptions{
		Version: build.BuilderV1, Dockerfile: archive.Dockerfile, BuildArgs: args, Platform: b.opt.Platform, NoCache: r.Afresh,
		NetworkMode: b.opt.network(true), Labels: map[string]string{LabelProject: b.opt.Project, LabelImage: "true"},
		Remove: true, ForceRemove: true, // containers of steps
	})
	if err == nil {
		said := capped.Buffer{Head: 1, Tail: keptOutput}
		id, err = readBuild(answer.Body, io.MultiWriter(&said, out))
		var failed *messageError
		if errors.As(err, &failed) {
			err = b.classifyFailure(ctx, failed, said.Bytes())
		}
		answer.Body.Close()
	} else if errdefs.IsInvalidArgument(err) {
		err = b.wrongRecipe(err)
	}
	var wrong *backend.SettingError
	cause, unread := context.Cause(ctx), archive.Failure()
	switch {
	case cause != nil:
		return "", cause
	case unread != nil: // the daemon only saw the context end
		return "", fmt.Errorf("sending the context of %s: %w", b.opt.Build.Name, unread)
	case errors.As(err, &wrong):
		return "", wrong
	case err != nil:
		return "", fmt.Errorf("building the image of %s: %w", b.opt.Build.Name, b.d.explain(err))
	}
	return id, nil
}

// keptOutput limits the output of a failed build in its error, in bytes: only the end is kept.
const keptOutput = 2 << 10

// classifyFailure decides whether a failed build is the fault of the recipe or of the machine. A daemon
// that is being stopped kills the build's commands first, and answers for a little longer.
func (b *Backend) classifyFailure(ctx context.Context, failed *messageError, said []byte) error {
	killed := mentions(failed, "non-zero code: 137", "non-zero code: 143")
	for until := time.Now().Add(b.d.wait.stop); ; {
		ask, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := b.d.api.Ping(ask)
		cancel()
		if err != nil {
			return err
		}
		if !killed || time.Now().After(until) {
			break
		}
		if err := retry.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	switch { // failures of the machine
	case mentions(failed, "no space left on device"):
		return failed
	case mentions(failed, `unable to find image "sha256:`, "unknown parent image id", "no such image: sha256:", "unrecognized image"):
		return fmt.Errorf("%w: %w", errImageRemoved, failed)
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	const shown = 20
	if len(lines) > shown {
		lines = append([]string{"..."}, lines[len(lines)-shown:]...)
	}
	return b.wrongRecipe(fmt.Errorf("%w; it ended with:\n  %s", failed, strings.Join(lines, "\n  ")))
}

// colours matches the escape sequences that the daemon adds to a command's stderr.
var colours = lazyregexp.New(`\x1b\[[0-9;]*m`)

// readBuild reads the messages of a build up to the end.
func readBuild(messages io.Reader, out io.Writer) (id string, err error) {
	err = readMessages(messages, func(m message) error {
		id = cmp.Or(m.Aux.ID, id)
		_, err := io.WriteString(out, colours().ReplaceAllString(m.Stream, ""))
		return err
	})
	if err == nil && id == "" {
		err = io.ErrUnexpectedEOF
	}
	return id, err
}

// proxies returns the proxy variables in env. Builds accept them as undeclared arguments, without a trace
// in the image.
func proxies(env []string) []Arg {
	var found []Arg
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		switch strings.ToUpper(name) {
		case "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY":
			found = append(found, Arg{Name: name, Value: value})
		}
	}
	return found
}
