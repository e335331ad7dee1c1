package lang

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// DockerBackend is the rest of backend "docker". Empty texts and zero are the
// daemon's or the image's choice, or no limit.
type DockerBackend struct {
	Pull     string // "missing", "always", "never"
	Platform string // "linux/arm64"
	Network  string // "none", "bridge" for one of the container's own, or the name of one
	User     string // name or number, either with ":group"
	Workdir  string // absolute, clean
	CPUs     float64
	Memory   int64 // bytes
	Pids     int
}

func dockerKind() backendKind {
	return backendKind{schema: dockerSchema(), decode: func(b *block, made *Backend) {
		b.inheritance(made)
		made.Python, _ = b.text("python")
		made.Docker, made.Container = b.docker()
	}}
}

// docker reads the attributes of a docker backend.
func (b *block) docker() (*DockerBackend, *Container) {
	d, c := &DockerBackend{}, &Container{}
	c.Image, c.Build = b.dockerImage()
	d.Pull, _ = b.text("pull")
	d.Platform = b.shaped("platform", platformText(), `a platform, such as "linux/arm64"`)
	d.Network = b.dockerNetwork()
	d.User = b.shaped("user", userText(), `a user, such as "1000:1000" or "nobody"`)
	d.Workdir = b.place("workdir")
	d.CPUs, _ = b.number("cpus")
	d.Memory, _ = b.size("memory")
	if pids, g := b.integer("pids", 1); g != isNull {
		d.Pids = pids
	}
	c.GPUs = b.shaped("gpus", gpusText(), `"all", a number above 0, or "device=" and ids, such as "device=0,1"`)
	c.Keep, _ = b.text("keep")
	c.Mounts = b.mounts(d.Workdir)
	return d, c
}

// Texts of a docker backend that have a shape of their own. What names exist
// is the daemon's to say.
var (
	imageText    = lazyregexp.New(`^[^\s-]\S*$`)
	platformText = lazyregexp.New(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)
	userText     = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	gpusText     = lazyregexp.New(`^(all|[1-9][0-9]*|device=[^\s,]+(,[^\s,]+)*)$`)
	networkText  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

func (b *block) imageName(name string) (string, given) {
	text, g := b.text(name)
	if g == isSet && !imageText().MatchString(text) {
		b.reject(name, "bad-value", "Bad image", fmt.Sprintf("%q is not the name of an image.", text), `write such as "python:3.12-slim"`)
		return "", isFailed
	}
	return text, g
}

// shaped reads a text that is empty or matches; wanted says what it should be.
func (b *block) shaped(name string, shape *regexp.Regexp, wanted string) string {
	text, g := b.text(name)
	if g == isSet && text != "" && !shape.MatchString(text) {
		b.reject(name, "bad-value", "Bad "+name, fmt.Sprintf("%q is not %s.", text, wanted), "")
	}
	return text
}

func (b *block) dockerNetwork() string {
	text, g := b.text("network")
	switch {
	case g != isSet:
	case text == "host" || strings.HasPrefix(text, "container:"):
		b.reject("network", "bad-value", "Shared network", fmt.Sprintf("Containers need a network of their own, which %q is not.", text), `"bridge" reaches what the machine reaches; "none" reaches nothing`)
	case !networkText().MatchString(text):
		b.reject("network", "bad-value", "Bad network", fmt.Sprintf("%q is not the name of a network.", text), `"none", "bridge", or what "docker network ls" lists`)
	}
	return text
}

// place reads an absolute path of a container.
func (b *block) place(name string) string {
	text, g := b.text(name)
	if g == isSet && (!path.IsAbs(text) || path.Clean(text) == "/" || strings.ContainsRune(text, 0)) {
		b.reject(name, "bad-path", "Bad path in the container", fmt.Sprintf("%s must be an absolute path below \"/\", not %q.", name, text), "")
	}
	return path.Clean(text)
}

// ownPlaces are directories of containers that hold what fevalgraph puts there.
const ownPlaces = "/fevalgraph"

// mounts reads the mount blocks. One that covers the workspace, or lies in it,
// would hide what a session puts there or be removed with it.
func (b *block) mounts(workdir string) []Mount {
	var made []Mount
	for _, m := range b.children("mount") {
		mount := Mount{Range: convertRange(m.header)}
		mount.Source, _ = m.path("source")
		mount.Target = m.place("target")
		mount.ReadOnly, _ = m.truth("read_only")
		content, _ := m.text("content")
		mount.Unhashed = content == "unhashed"
		if writable, g := m.truth("read_only"); g == isSet && !writable && !mount.Unhashed {
			m.reject("read_only", "bad-value", "Writable mount", "Containers can write to it, so what is in it when tests run is not what keys would say.", `content = "unhashed" says that verdicts do not depend on it`)
		}
		for _, taken := range []string{workdir, ownPlaces} {
			if m.attrs["target"] != nil && (within(mount.Target, taken) || within(taken, mount.Target)) {
				m.reject("target", "bad-path", "Place in use", fmt.Sprintf("%s is for the workspace and for fevalgraph's own files.", taken), "mount it elsewhere")
			}
		}
		for _, other := range made {
			if other.Target == mount.Target {
				m.reject("target", "duplicate", "Two mounts in one place", fmt.Sprintf("The mount in line %d has the target %q, too.", other.Range.Start.Line, other.Target), "")
			}
		}
		made = append(made, mount)
	}
	return made
}

// within reports whether a clean absolute path is dir or lies in it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
