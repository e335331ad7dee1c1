package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// Who a backend is, is part of keys, and a project says how to find out: by its own
// commands, programs, images and servers. So a call that only reads asks a backend only
// for what its project was trusted with. A person trusts a project by Trust, or by having
// it executed: whoever runs a project has run all that. Trust is in each single thing,
// known by its text, so that no other edit of a project takes it away, and content that
// came from elsewhere since is not trusted with what the user did not agree to.

// trust is what a user trusted the project in a directory with.
type trust struct {
	path  string // of the file that has it; "" when there can be none
	root  string // real path of the project's directory
	all   bool   // the caller says so, for this call
	known map[string]bool

	adding bool // a person has the project executed, or trusts it
	added  bool
	asked  []TrustedBackend // that were added, or known before
	listed map[string]bool  // among these
}

// trustFile is the content of a file about a project.
type trustFile struct {
	Root string   `json:"root"`
	Asks []string `json:"asks"` // digests, sorted
}

// openTrust reads what a project is trusted with. One whose file cannot be read is not
// trusted.
func (o *Options) openTrust() *trust {
	t := &trust{root: realPath(absolute(o.projectDir())), all: o.Trusted, known: map[string]bool{}, listed: map[string]bool{}}
	dir, err := o.trustDir()
	if err != nil {
		return t
	}
	t.path = filepath.Join(dir, digestOf(t.root))
	if file, err := readTrust(t.path); err == nil && file.Root == t.root {
		for _, ask := range file.Asks {
			t.known[ask] = true
		}
	}
	return t
}

// trustDir has a file for each project that something was trusted in.
func (o *Options) trustDir() (string, error) {
	dir, err := o.userState()
	return filepath.Join(dir, "trust"), err
}

func readTrust(path string) (f trustFile, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(text, &f)
}

// allows reports whether a backend may be asked for all of some things.
func (t *trust) allows(asks []string) bool {
	return t.all || !slices.ContainsFunc(asks, func(ask string) bool { return !t.known[t.digest(ask)] })
}

// add trusts the project with what it takes to ask a backend.
func (t *trust) add(addr string, asks []string) {
	if one := addr + "\x00" + strings.Join(asks, "\x00"); len(asks) > 0 && !t.listed[one] {
		t.listed[one] = true
		t.asked = append(t.asked, TrustedBackend{addr, asks})
	}
	for _, ask := range asks {
		if d := t.digest(ask); !t.known[d] {
			t.known[d], t.added = true, true
		}
	}
}

// digest is by what a thing is known: its text and, of the project's own programs that
// it names, their content.
func (t *trust) digest(ask string) string {
	parts := []string{ask}
	for _, word := range strings.FieldsFunc(ask, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|<>()=,:", r) }) {
		if !within(word, t.root) {
			continue
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			content, err := os.ReadFile(word)
			parts = append(parts, digestOf(string(content)), fmt.Sprint(err))
		}
	}
	return digestOf(parts...)
}

func digestOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// save writes down what was added. Of two that do so at once one may be lost, and is
// asked for again.
func (t *trust) save() error {
	if !t.added {
		return nil
	}
	if t.path == "" {
		return errors.New("there is no place for what is trusted; set HOME or XDG_STATE_HOME")
	}
	file := trustFile{Root: t.root}
	for ask := range t.known {
		file.Asks = append(file.Asks, ask)
	}
	slices.Sort(file.Asks)
	text, err := json.Marshal(file)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(t.path), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteDurable(t.path, 0o600, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing down that %s is trusted: %w", t.root, err)
	}
	t.added = false
	return nil
}

// realPath is a path without symbolic links, as far as they can be followed.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// TrustedBackend is a backend and what asking it who it is takes: its project's own
// commands, programs, images and servers.
type TrustedBackend struct {
	Addr string   `json:"backend"`
	Asks []string `json:"asks"`
}

// Trust lets calls that only read ask the backends of a project who they are, and returns
// the project's directory and what that takes.
func Trust(ctx context.Context, o Options) (root string, all []TrustedBackend, err error) {
	p, err := openProject(ctx, o, Reading, nil)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = p.closeAfter(err) }()
	p.trust.adding = true
	if err := p.compileStale(ctx, summits); err != nil {
		return "", nil, err
	}
	for _, b := range p.Config.Backends { // also those that no cell is on
		if k := p.kind(b); k.Asks != nil {
			p.trust.add(b.Addr(), k.Asks(b))
		}
	}
	for i := range p.Config.Settings.Remotes {
		r := &p.Config.Settings.Remotes[i]
		p.trust.add(remoteAddr(r), remoteAsks(r))
	}
	if err := p.trust.save(); err != nil {
		return "", nil, fail(NotJudged, err)
	}
	return p.trust.root, p.trust.asked, nil
}

// Distrust takes back what a project was trusted with; false when that was nothing.
func Distrust(o Options) (root string, any bool, err error) {
	t := o.openTrust()
	if t.path == "" {
		return t.root, false, nil
	}
	err = os.Remove(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return t.root, false, nil
	}
	if err != nil {
		return t.root, false, fail(NotJudged, fmt.Errorf("taking back trust: %w", err))
	}
	return t.root, true, nil
}

// TrustedProjects are the directories of the projects that the user trusts, sorted.
func TrustedProjects(o Options) ([]string, error) {
	dir, err := o.trustDir()
	if err != nil {
		return nil, fail(NotJudged, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail(NotJudged, fmt.Errorf("listing what is trusted: %w", err))
	}
	var roots []string
	for _, f := range files {
		if file, err := readTrust(filepath.Join(dir, f.Name())); err == nil && file.Root != "" {
			roots = append(roots, file.Root)
		}
	}
	slices.Sort(roots)
	return roots, nil
}
