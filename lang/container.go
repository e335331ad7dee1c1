package lang

import (
	"fmt"
	"strings"
)

// container reads the rows of a Container, in a block that has them.
func (b *block) container() *Container {
	c := &Container{}
	b.fill(c)
	c.Image, c.Build = b.dockerImage()
	workdir, _ := b.text("workdir")
	c.Mounts = b.mounts(workdir)
	return c
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
			m.reject("read_only", "bad-value", "Writable mount", "Containers can write to it, so its content during tests can differ from the content in keys.", `write content = "unhashed" if verdicts do not depend on it`)
		}
		for _, taken := range []string{workdir, ownPlaces} {
			if mount.Target != "" && (within(mount.Target, taken) || within(taken, mount.Target)) {
				m.reject("target", "bad-path", "Reserved path", fmt.Sprintf("%s is reserved for the workspace and fevalgraph's files.", taken), "mount it elsewhere")
			}
		}
		for _, other := range made {
			if other.Target == mount.Target && mount.Target != "" {
				m.reject("target", "duplicate", "Duplicate target", fmt.Sprintf("The mount in line %d has the same target %q.", other.Range.Start.Line, other.Target), "")
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
