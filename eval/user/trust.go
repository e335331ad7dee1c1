package user

import (
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
	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// The identity of a backend is part of keys, and a project specifies how to query it: by its own commands,
// programs, images and servers. So a call that only reads sends a backend only queries that its project is
// trusted with. A user trusts a project by Trust, or by executing it: a run has run all of them already.
// Trust is in each single query, identified by its text, so that no other edit of a project revokes it, and
// later content from elsewhere does not gain it.

// Trust contains the queries that a user trusted in the project of a directory.
type Trust struct {
	// Root is the real path of the project's directory.
	Root string
	// Adding means that the user executes or trusts the project in this call.
	Adding bool

	path  string // file with the trust; "" without a directory for it
	all   bool   // everything is trusted for this call
	known map[string]bool

	added  bool
	asked  []Trusted       // added or already known
	listed map[string]bool // addresses in asked
}

// trustFile is the content of a file about a project.
type trustFile struct {
	Root string   `json:"root"`
	Asks []string `json:"asks"` // digests, sorted
}

// OpenTrust reads the trust in the project of a directory; with all, everything is trusted. state is the
// user's state directory, or "". A project whose file cannot be read is not trusted.
func OpenTrust(state, project string, all bool) *Trust {
	t := &Trust{Root: realPath(project), all: all, known: map[string]bool{}, listed: map[string]bool{}}
	if state == "" {
		return t
	}
	t.path = filepath.Join(trustDir(state), digestOf(t.Root))
	if file, err := readTrust(t.path); err == nil && file.Root == t.Root {
		for _, ask := range file.Asks {
			t.known[ask] = true
		}
	}
	return t
}

// trustDir returns the directory with a file for each trusted project.
func trustDir(state string) string { return filepath.Join(state, "trust") }

func readTrust(path string) (f trustFile, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(text, &f)
}

// Allows reports whether the project is trusted with all of the queries.
func (t *Trust) Allows(asks []string) bool {
	return t.all || !slices.ContainsFunc(asks, func(ask string) bool { return !t.known[t.digest(ask)] })
}

// Add trusts the project with the queries of a backend.
func (t *Trust) Add(addr string, asks []string) {
	if one := addr + "\x00" + strings.Join(asks, "\x00"); len(asks) > 0 && !t.listed[one] {
		t.listed[one] = true
		t.asked = append(t.asked, Trusted{addr, asks})
	}
	for _, ask := range asks {
		if d := t.digest(ask); !t.known[d] {
			t.known[d], t.added = true, true
		}
	}
}

// digest identifies a query: by its text and the content of the project's own programs in it.
func (t *Trust) digest(ask string) string {
	parts := []string{ask}
	for _, word := range strings.FieldsFunc(ask, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|<>()=,:", r) }) {
		if !subpath.Contains(t.Root, word) {
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

// Save stores the added trust. If two calls save at the same time, the trust of one can be lost, and the user
// is asked again.
func (t *Trust) Save() error {
	if !t.added {
		return nil
	}
	if t.path == "" {
		return errors.New("no directory to store trust in; set HOME or XDG_STATE_HOME")
	}
	file := trustFile{Root: t.Root}
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
		return fmt.Errorf("recording that %s is trusted: %w", t.Root, err)
	}
	t.added = false
	return nil
}

// realPath returns a path without symbolic links, as far as they can be followed.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Trusted is a backend with its queries: the project's own commands, programs, images and servers.
type Trusted struct {
	Addr string   `json:"backend"`
	Asks []string `json:"asks"`
}

// Asked returns the backends with recorded queries, in order.
func (t *Trust) Asked() []Trusted { return t.asked }

// Revoke removes the trust in the project, and returns false if there was none.
func (t *Trust) Revoke() (any bool, err error) {
	if t.path == "" {
		return false, nil
	}
	err = os.Remove(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("revoking trust: %w", err)
	}
	return true, nil
}

// TrustedProjects returns the sorted directories of the projects that the user with this state directory
// trusts.
func TrustedProjects(state string) ([]string, error) {
	dir := trustDir(state)
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing trusted projects: %w", err)
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
