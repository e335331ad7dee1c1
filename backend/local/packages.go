package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// packages collects the installed packages of Python interpreters. Reading the directories that
// interpreters import from takes a fraction of the time of starting one.
type packages struct {
	prefixes []string // already read
	found    []string // NAME-VERSION, and a digest of the installer's records
}

// shownPackages limits the packages that an identity lists, since every manifest contains it. A
// longer list is replaced by its digest.
const shownPackages = 40

func (p *packages) text() string {
	slices.Sort(p.found)
	p.found = slices.Compact(p.found)
	if text := strings.Join(p.found, " "); len(p.found) <= shownPackages {
		return text
	}
	return fmt.Sprintf("%d, %s", len(p.found), cache.SumBytes([]byte(strings.Join(p.found, " "))))
}

// nameVersion matches the part of an interpreter's name that package directories contain.
var nameVersion = lazyregexp.New(`[0-9]+\.[0-9]+t?$`)

// packagesKept is how long installed packages are cached: thousands of problems start the same
// program, and their identities are computed at the same time.
const packagesKept = time.Second

// cachedPackages caches the packages of a program.
type cachedPackages struct {
	at    time.Time
	found []string
}

// addPackages adds the packages that a program can import. The program is an interpreter, a
// script with one, or any program of an environment, such as of venv or conda.
func (b *Backend) addPackages(p *packages, program string) {
	if known, ok := b.installed.Load(program); ok && time.Since(known.(cachedPackages).at) < packagesKept {
		p.found = append(p.found, known.(cachedPackages).found...)
		return
	}
	now := cachedPackages{at: time.Now()}
	var own packages
	b.readPackages(&own, program)
	now.found = own.found
	b.installed.Store(program, now)
	p.found = append(p.found, own.found...)
}

func (b *Backend) readPackages(p *packages, program string) {
	interpreter := ""
	if isPython(program) {
		interpreter = program
	} else if line, _, _ := strings.Cut(scriptText(program), "\n"); line != "" {
		words := strings.Fields(strings.TrimPrefix(line, "#!"))
		if len(words) > 1 && filepath.Base(words[0]) == "env" {
			words = words[1:]
		}
		if len(words) > 0 && isPython(words[0]) {
			interpreter, _ = lookPath(words[0], b.opt.Path, "/")
		}
	}
	defer b.addPrefix(p, filepath.Dir(filepath.Dir(program)), "") // unless it belongs to the interpreter, whose version is known
	if interpreter == "" {
		return
	}
	prefix := filepath.Dir(filepath.Dir(interpreter))
	config, err := os.ReadFile(filepath.Join(prefix, "pyvenv.cfg"))
	b.addPrefix(p, prefix, interpreter)
	if real, realErr := filepath.EvalSymlinks(interpreter); realErr == nil && (err != nil || sharesSystem(string(config))) {
		b.addPrefix(p, filepath.Dir(filepath.Dir(real)), real)
	}
}

// sharesSystem reports whether a virtual environment includes the packages of its interpreter.
func sharesSystem(config string) bool {
	for line := range strings.Lines(config) {
		key, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == "include-system-site-packages" {
			return strings.EqualFold(strings.TrimSpace(value), "true")
		}
	}
	return false
}

// addPrefix adds the packages that are installed below a prefix. Prefixes of the system belong
// to all programs, and count only for an interpreter.
func (b *Backend) addPrefix(p *packages, prefix, interpreter string) {
	system := slices.Contains([]string{"/", "/usr", "/usr/local"}, prefix)
	if system && interpreter == "" || slices.Contains(p.prefixes, prefix) {
		return
	}
	p.prefixes = append(p.prefixes, prefix)
	version := "*"
	if real, err := filepath.EvalSymlinks(interpreter); err == nil && nameVersion().MatchString(real) {
		version = nameVersion().FindString(real)
	}
	patterns := []string{prefix + "/lib*/python" + version + "/site-packages", prefix + "/lib/pypy" + version + "/site-packages"}
	if system {
		patterns = []string{"/usr/lib/python3/dist-packages"}
		for _, place := range []string{"/usr", "/usr/local"} {
			patterns = append(patterns, place+"/lib*/python"+version+"/site-packages", place+"/lib/python"+version+"/dist-packages")
		}
	}
	for _, pattern := range patterns {
		places, _ := filepath.Glob(pattern)
		for _, place := range places {
			b.addPlace(p, place)
		}
	}
	conda, _ := fs.Glob(os.DirFS(prefix), "conda-meta/*.json")
	for _, name := range conda {
		p.found = append(p.found, "conda:"+strings.TrimSuffix(filepath.Base(name), ".json"))
	}
}

// addPlace adds the packages in a directory that an interpreter imports from.
func (b *Backend) addPlace(p *packages, place string) {
	entries, _ := os.ReadDir(place)
	for _, e := range entries {
		path := filepath.Join(place, e.Name())
		switch kind := filepath.Ext(e.Name()); kind {
		case ".dist-info", ".egg-info":
			text := strings.TrimSuffix(e.Name(), kind)
			var record []string
			if !e.IsDir() {
				record = append(record, b.contents(path))
			}
			for _, name := range []string{"RECORD", "METADATA", "PKG-INFO", "direct_url.json"} {
				info, err := os.Stat(filepath.Join(path, name))
				if err != nil {
					continue
				}
				record = append(record, b.contents(filepath.Join(path, name)))
				if name == "direct_url.json" && info.Size() < 1<<16 {
					record = append(record, b.editable(filepath.Join(path, name)))
				}
			}
			p.found = append(p.found, withRecord(text, record...))
		case ".egg-link", ".pth":
			record := []string{b.contents(path)}
			content, _ := os.ReadFile(path)
			for line := range strings.Lines(string(content)) {
				if dir := strings.TrimSpace(line); filepath.IsAbs(dir) {
					record = append(record, b.sources(dir))
				}
			}
			p.found = append(p.found, withRecord(e.Name(), record...))
		}
	}
}

// withRecord returns the name of a package with a digest of its records.
func withRecord(name string, record ...string) string {
	if len(record) == 0 {
		return name
	}
	return name + "@" + cache.SumBytes([]byte(strings.Join(record, " "))).Hex()[:16]
}

// editable returns the digest of the source directory of an editable package.
func (b *Backend) editable(file string) string {
	var direct struct {
		URL string `json:"url"`
		Dir struct {
			Editable bool `json:"editable"`
		} `json:"dir_info"`
	}
	content, _ := os.ReadFile(file)
	if json.Unmarshal(content, &direct) != nil || !direct.Dir.Editable {
		return ""
	}
	link, err := url.Parse(direct.URL)
	if err != nil || link.Scheme != "file" {
		return ""
	}
	return b.sources(filepath.FromSlash(link.Path))
}

// mostSources limits the files of such a directory.
const mostSources = 20_000

var errManySources = errors.New("too many files")

// sources returns the digest of the files that can be imported from a directory: all except
// hidden and generated ones.
func (b *Backend) sources(dir string) string {
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return nil //nolint:nilerr // a directory that cannot be read cannot be imported
		case path == dir:
		case strings.HasPrefix(name, ".") || d.IsDir() && (name == "__pycache__" || name == "node_modules" || strings.HasSuffix(name, ".egg-info")):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			all = append(all, strings.TrimPrefix(path, dir)+" "+b.contents(path))
		}
		if len(all) > mostSources {
			return errManySources
		}
		return nil
	})
	if err != nil {
		return unknownTarget
	}
	return cache.SumBytes([]byte(strings.Join(all, "\n"))).String()
}
