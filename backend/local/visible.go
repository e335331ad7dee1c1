//go:build unix

package local

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// systemPlaces returns the parts of the machine that every command can read, where they exist.
var systemPlaces = sync.OnceValue(func() []isolation.Place {
	var places []isolation.Place
	for _, path := range []string{
		"/bin", "/etc", "/etc/resolv.conf", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/sbin", "/snap", "/sys", "/usr",
	} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && filepath.Dir(path) == "/" {
			places = append(places, isolation.Place{Source: path, Target: path}) // it stays a link
		} else {
			places = append(places, placesOf(path)...)
		}
	}
	return places
})

// secrets returns the parts of systemPlaces that are closed to ordinary users, such as passwords and host
// keys. A command that runs as root could read them.
var secrets = sync.OnceValue(func() []string {
	secrets := closedBelow("/etc", 100, true)
	for _, dir := range []string{"/opt", "/usr/local"} { // they can be large
		secrets = append(secrets, closedBelow(dir, 3, false)...)
	}
	return secrets
})

// closedBelow returns the files in dir, at most depth levels below it, that ordinary users cannot read,
// and, if dirs is true, the directories that they can neither list nor enter. Programs that were installed
// with a strict umask are in such directories.
func closedBelow(dir string, depth int, dirs bool) []string {
	entries, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return nil
	}
	var closed []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil:
		case info.Mode().IsRegular() && info.Mode()&0o004 == 0, dirs && info.IsDir() && info.Mode()&0o005 == 0:
			closed = append(closed, path)
		case info.IsDir():
			closed = append(closed, closedBelow(path, depth-1, dirs)...)
		}
	}
	return closed
}

// uvCache is the variable that names uv's cache.
const uvCache = "UV_CACHE_DIR"

// isolate changes cmd to run isolated. Its environment must be complete.
func (s *session) isolate(cmd *exec.Cmd, c backend.Command, private bool) (*isolation.Process, error) {
	view := isolation.View{Writable: s.work.Parts(), Temp: s.work.Temp(), PrivateNetwork: private, Hidden: s.b.hiddenPaths()}
	if len(s.places) > 0 {
		view.Writable = []string{s.work.Home(), s.work.Temp()} // the rest of the workspace is at its places
	}
	for _, p := range s.places {
		source, _, err := s.work.Real(p.Path)
		if err != nil {
			return nil, err
		}
		view.Places = append(view.Places, isolation.Place{Source: source, Target: p.At})
	}
	if dir, set := getenv(cmd.Env, uvCache); set && filepath.IsAbs(dir) {
		lower, err := realDirectory(dir)
		if err != nil {
			return nil, err
		}
		own := filepath.Join(s.base, "uv")
		view.Overlays = []isolation.Overlay{
			{Lower: lower, Target: filepath.Clean(dir)},
			{Lower: lower, Target: own, Changes: own + "-changes"},
		}
		if s.level == isolation.Full {
			cmd.Env = append(cmd.Env, uvCache+"="+own)
		}
	}
	view.ReadOnly = s.visiblePaths(cmd, c)
	if !c.Online {
		view.ReadOnly = append(view.ReadOnly, s.readOnly...)
		view.Writable = append(view.Writable, s.readOnlyParents()...)
	}
	return isolation.Command(cmd, s.b.isolator, s.level, view)
}

// readOnlyParents returns the existing directories of the workspace above read-only paths.
func (s *session) readOnlyParents() []string {
	var names, dirs []string
	for _, p := range s.readOnly {
		if name, err := filepath.Rel(s.dir, p.Target); err == nil {
			names = append(names, name)
		}
	}
	for _, name := range workspace.Above(names) {
		// A link in the path would lead elsewhere.
		if dir := filepath.Join(s.dir, name); isReal(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func isReal(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real != dir {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// realDirectory creates a directory if it is missing, and returns its path without links.
func realDirectory(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// closedDirs returns directories that no command sees, except deeper paths that its arguments or environment
// name.
func (b *Backend) closedDirs() []string {
	scratch, _ := b.scratch.Find() // without it, no session opens
	closed := append([]string{scratch}, b.opt.Hidden...)
	if b.opt.Home != "" {
		closed = append(closed, b.opt.Home)
	}
	return closed
}

// hiddenPaths returns paths that no command sees although they are in directories that it sees.
func (b *Backend) hiddenPaths() []string {
	hidden := b.closedDirs()
	if b.opt.Home != "" {
		hidden = append(hidden, b.opt.Home+"/.cargo/credentials", b.opt.Home+"/.cargo/credentials.toml")
	}
	if os.Geteuid() == 0 {
		hidden = append(hidden, secrets()...)
	}
	return hidden
}

// visiblePaths returns what a command can read of the machine: the system, what the configuration lists, every
// file and directory that its arguments and environment name, and programs.
func (s *session) visiblePaths(cmd *exec.Cmd, c backend.Command) []isolation.Place {
	programs := []string{cmd.Path, s.b.knownInterpreter()}
	named := slices.Clone(c.Argv)
	for _, v := range c.Env {
		name, value, _ := strings.Cut(v, "=")
		if name == "PATH" {
			programs = append(programs, filepath.SplitList(value)...)
		} else {
			named = append(named, filepath.SplitList(value)...)
		}
	}
	places := slices.Clone(systemPlaces())
	for _, path := range s.b.opt.Readable {
		places = append(places, placesOf(path)...)
	}
	for _, path := range programs {
		if s.canShow(path) {
			path = filepath.Clean(path)
			places = append(append(places, s.b.tool(path)...), s.b.linked(path)...)
		}
	}
	for _, path := range named {
		if s.canShow(path) {
			places = append(places, s.b.unlessClosed(filepath.Clean(path))...)
		}
	}
	return places
}

// canShow reports whether path can be shown to a command whose arguments or environment name it. The
// workspace is shown anyway, and could contain links made by the submission.
func (s *session) canShow(path string) bool {
	return filepath.IsAbs(path) && !ownInside(path) && !strings.HasPrefix(filepath.Clean(path)+"/", s.base+"/")
}

// ownInside reports whether path is below a directory that differs between commands.
func ownInside(path string) bool {
	below := func(dir string) bool { return strings.HasPrefix(path+"/", dir+"/") }
	return below("/proc") || below("/dev") && !below("/dev/shm")
}

// placesOf returns the paths at which path is shown: its name and, so that links work, its real path. A
// missing path is not shown.
func placesOf(path string) []isolation.Place {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil:
		return nil
	case real == path:
		return []isolation.Place{{Source: real, Target: real}}
	}
	return []isolation.Place{{Source: real, Target: real}, {Source: real, Target: path}}
}

// unlessClosed returns the paths at which path is shown, unless it or the target of its links would reveal
// a closed path.
func (b *Backend) unlessClosed(path string) []isolation.Place {
	places := placesOf(path)
	if b.covers(path) || len(places) > 0 && b.covers(places[0].Source) {
		return nil
	}
	return places
}

// tool returns the paths at which path is shown, with the rest of its program or Python environment,
// except parts that would reveal a closed path.
func (b *Backend) tool(path string) []isolation.Place {
	found := b.unlessClosed(path)
	for _, dir := range b.managed(path) {
		found = append(found, b.unlessClosed(dir)...)
	}
	dir := filepath.Dir(path)
	for range 2 {
		for _, part := range b.prefix(dir) {
			found = append(found, b.unlessClosed(part)...)
		}
		dir = filepath.Dir(dir)
	}
	// The interpreter of an environment can be elsewhere, like the target of a link.
	for _, link := range []string{path, filepath.Join(path, "python")} {
		if real, err := filepath.EvalSymlinks(link); err == nil && real != link {
			found = append(found, b.tool(real)...)
		}
	}
	return found
}

// knownInterpreter returns the path of the Python that uv chose, or "" if it has not been queried.
func (b *Backend) knownInterpreter() string {
	b.probe.Lock()
	defer b.probe.Unlock()
	return b.python.path
}

// covers reports whether dir or a path below it is closed.
func (b *Backend) covers(dir string) bool {
	return dir == "/" || slices.ContainsFunc(b.closedDirs(), func(closed string) bool { return subpath.Contains(dir, closed) })
}
