package docker

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// makeRoom has the container remove what programs left in the way of what
// waits: the daemon's unpacking would follow a symlink where a directory is to
// be. It runs as the commands' user, whose files these are.
func (c *copied) makeRoom(ctx context.Context) error {
	script, err := c.roomScript()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	res, err := c.s.box.run(ctx, job{script: script, grace: c.s.b.opt.Grace, out: &out})
	if err == nil && (res.word != wordReady || res.code != 0) {
		err = fmt.Errorf("exit code %d: %s", res.code, bytes.TrimSpace(out.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("making room in the container: %w", err)
	}
	return nil
}

// roomHead defines, for the script, how to remove anything and how to have a
// real directory or nothing at a path.
const roomHead = `exec >&2 </dev/null
gone() {
	[ ! -L "$1" ] || { rm -f -- "$1"; return; }
	[ -e "$1" ] || return 0
	chmod -R u+rwx -- "$1" 2>/dev/null
	rm -rf -- "$1"
}
real() {
	if [ -d "$1" ] && [ ! -L "$1" ]; then chmod u+rwx -- "$1"; else gone "$1"; fi
}
`

func (c *copied) roomScript() (string, error) {
	var b strings.Builder
	top := quote(c.s.Dir())
	fmt.Fprintf(&b, "echo '%s%s'\n%schmod u+rwx %s && cd -P -- %s || exit 1\n", wordPrefix, wordReady, roomHead, top, top)
	step := func(function, name string) { fmt.Fprintf(&b, "%s %s || exit 1\n", function, quote("./"+name)) }
	for _, in := range c.waiting {
		at, err := workspace.Relative(in.Path)
		if err != nil {
			return "", err
		}
		if !in.Replace && !in.Tree.IsZero() {
			continue
		}
		if at == "." {
			b.WriteString(`for f in ./* ./.[!.]* ./..?*; do gone "$f" || exit 1; done` + "\n")
			continue
		}
		parent := ""
		for element := range strings.SplitSeq(path.Dir(at), "/") {
			parent = path.Join(parent, element)
			step("real", parent)
		}
		step("gone", at)
	}
	work := c.staging.Work()
	err := filepath.WalkDir(work, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == work {
			return err
		}
		inside, err := filepath.Rel(work, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			step("real", filepath.ToSlash(inside))
		} else {
			step("gone", filepath.ToSlash(inside))
		}
		return nil
	})
	b.WriteString("exit 0\n")
	return b.String(), err
}
