package lang

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// DockerBackend is the rest of backend "docker". Empty texts and zero are the
// daemon's or the image's choice, or no limit.
type DockerBackend struct {
	Pull     string  `hcl:"pull"`     // "missing", "always", "never"
	Platform string  `hcl:"platform"` // "linux/arm64"
	Network  string  `hcl:"network"`  // "none", "bridge" for a private network, or the name of a network
	User     string  `hcl:"user"`     // name or number, either with ":group"
	Workdir  string  `hcl:"workdir"`  // absolute, clean
	CPUs     float64 `hcl:"cpus"`
	Memory   int64   `hcl:"memory"` // bytes
	Pids     int
}

func dockerKind() backendKind {
	return backendKind{schema: dockerSchema(), decode: func(b *block, made *Backend) {
		made.Docker, made.Container = b.docker()
	}}
}

// docker reads the attributes of a docker backend.
func (b *block) docker() (*DockerBackend, *Container) {
	d, c := &DockerBackend{}, &Container{}
	b.fill(d)
	b.fill(c)
	c.Image, c.Build = b.dockerImage()
	if pids, g := b.integer("pids"); g != isNull {
		d.Pids = pids
	}
	c.Mounts = b.mounts(d.Workdir)
	return d, c
}

// Forms of texts of a docker backend. Whether a name exists, only the daemon knows.
var (
	platformText = lazyregexp.New(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)
	userText     = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	gpusText     = lazyregexp.New(`^(all|[1-9][0-9]*|device=[^\s,]+(,[^\s,]+)*)$`)
	networkText  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

// userForm is the form of users of an image.
var userForm = matching("user", userText, `a user, such as "1000:1000" or "nobody"`)

// dockerNetwork checks names of networks.
func dockerNetwork(b *block, name, text string) (string, bool) {
	switch {
	case text == "host" || strings.HasPrefix(text, "container:"):
		b.reject(name, "bad-value", "Shared network", fmt.Sprintf("Containers need a network of their own, which %q is not.", text), `"bridge" reaches what the machine reaches; "none" reaches nothing`)
	case !networkText().MatchString(text):
		b.reject(name, "bad-value", "Bad network", fmt.Sprintf("%q is not the name of a network.", text), `"none", "bridge", or what "docker network ls" lists`)
	default:
		return text, true
	}
	return "", false
}

// ownPlaces are directories of containers that fevalgraph uses.
const ownPlaces = "/fevalgraph"

// mounts reads the mount blocks. A mount over or below the workspace would hide the files of a session or be
// removed with it.
func (b *block) mounts(workdir string) []Mount {
	var made []Mount
	for _, m := range b.children("mount") {
		mount := Mount{Range: convertRange(m.header)}
		m.fill(&mount)
		content, _ := m.text("content")
		mount.Unhashed = content == "unhashed"
		if writable, g := m.truth("read_only"); g == isSet && !writable && !mount.Unhashed {
			m.reject("read_only", "bad-value", "Writable mount", "Containers can write to it, so what is in it when tests run is not what keys would say.", `content = "unhashed" says that verdicts do not depend on it`)
		}
		for _, taken := range []string{workdir, ownPlaces} {
			if mount.Target != "" && (within(mount.Target, taken) || within(taken, mount.Target)) {
				m.reject("target", "bad-path", "Place in use", fmt.Sprintf("%s is for the workspace and for fevalgraph's own files.", taken), "mount it elsewhere")
			}
		}
		for _, other := range made {
			if other.Target == mount.Target && mount.Target != "" {
				m.reject("target", "duplicate", "Two mounts in one place", fmt.Sprintf("The mount in line %d has the target %q, too.", other.Range.Start.Line, other.Target), "")
			}
		}
		made = append(made, mount)
	}
	return made
}

// within reports whether a clean absolute path is dir or below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
