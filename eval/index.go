package eval

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report"
)

// index is the file that says which partitions a project has and what they were
// compiled and decided from. A run that may write replaces it at its end.
//
// Three things decide how much of it holds. While the base is the same, a partition
// whose identity is unchanged may be taken over. While the configuration's inputs are
// the same, too, no HCL is evaluated. Whether a partition is fresh is then decided by
// its own facts.
type index struct {
	baseFiles []byte // cache.Snapshot of the program and the lock file
	indexed
}

// indexed is what the index holds beside that.
type indexed struct {
	Salt []byte   // of every digest of something that may be sensitive
	Base []byte   // the program's version and the store, salted
	Env  []envSum // every variable that was read

	Invocation []byte // the options that say which configuration is read, salted
	Inputs     []byte // cache.Snapshot of what it was evaluated from; nil when that had just changed
	Root       string
	Settings   lang.Settings
	Warnings   diag.List
	Config     []byte // SHA-256 of the file with the evaluated configuration; nil when there is none

	// Whole says that the configuration has something that takes every partition
	// compiled: an export of more than results, or a suite that stops early.
	Whole bool
	// Late says that it has something that takes results: exports and result blocks.
	Late bool

	Backends []backendRecord
	Shared   []sharedSnapshot
	Parts    []partRef // in the order of results
	Suites   []byte    // the suites and their cells, salted; nil when a suite's node has no answer
	// SuiteNodes are the nodes of suites, and of problems that cannot be evaluated.
	SuiteNodes int
	SuiteBytes int64
	SuiteTime  float64
}

// sharedSnapshot is the state of the paths that a node reads which partitions share.
type sharedSnapshot struct {
	Sum      [sha256.Size]byte
	Snapshot []byte
}

// sharedRef names such a node, and the state that it was decided with.
type sharedRef struct {
	Addr string
	Sum  [sha256.Size]byte
}

// partRef is a partition of the index.
type partRef struct {
	Problem  string
	First    string
	Backends []string
	ID       []byte        // its fingerprint, salted; nil when it has none
	File     partitionName // zero when it is not fresh
}

// facts are the first section of a partition file.
type facts struct {
	Run      string      // that decided about the partition
	Used     int64       // seconds since 1970 when the uses of stored outputs were noted
	Snapshot []byte      // cache.Snapshot of the paths that only its own nodes read
	Shared   []sharedRef // nodes that others have, too, and that read paths
	Own      int         // nodes that no other partition has
	Common   []string    // addresses of the nodes that others have, too
	Cells    []graph.Row
	Summary  []report.CellRow
	// What serving every node saves; see event.RunEnd.
	SavedBytes   int64
	SavedSeconds float64
}

func partitionsDir(state string) string { return filepath.Join(state, "partitions") }
func indexPath(state string) string     { return filepath.Join(partitionsDir(state), "index") }
func configPath(state string) string    { return filepath.Join(partitionsDir(state), "configuration") }

// readIndex reads the index; nil when there is none, when it is damaged, and when the
// program or the lock file is another one. Its values have no names, so that only the
// program that wrote them can read them: their snapshot comes before them.
func readIndex(state string) *index {
	sealed, err := os.ReadFile(indexPath(state))
	if err != nil {
		return nil
	}
	content, ok := cache.Unseal(sealed)
	if !ok || len(content) < 8 {
		return nil
	}
	size, rest := binary.LittleEndian.Uint64(content), content[8:]
	if size > uint64(len(rest)) || !unchanged(rest[:size]) {
		return nil
	}
	i := &index{baseFiles: rest[:size]}
	if frozen.Decode(string(rest[size:]), &i.indexed) != nil || len(i.Salt) == 0 {
		return nil
	}
	return i
}

func (i *index) write(state string) error {
	content := binary.LittleEndian.AppendUint64(nil, uint64(len(i.baseFiles)))
	content, err := frozen.Append(append(content, i.baseFiles...), &i.indexed)
	if err != nil {
		return err
	}
	return atomicfile.Write(indexPath(state), 0o600, cache.Seal(content))
}

// writeConfig keeps the evaluated configuration and returns its digest; nil for one that
// has to be evaluated each time, because it has secrets or waits for results.
func writeConfig(state string, cfg *lang.Config) ([]byte, error) {
	if hasSecrets(cfg) {
		return nil, os.RemoveAll(configPath(state)) // of before it had any
	}
	content, err := lang.Archive(cfg)
	if err != nil {
		return nil, nil //nolint:nilerr // it has no such form
	}
	sum := sha256.Sum256(content)
	if known, err := os.ReadFile(configPath(state)); err == nil && bytes.Equal(known, content) {
		return sum[:], nil
	}
	return sum[:], atomicfile.Write(configPath(state), 0o600, content)
}

// readConfig reads the configuration with a digest.
func readConfig(state string, want []byte) (*lang.Config, bool) {
	content, err := os.ReadFile(configPath(state))
	if sum := sha256.Sum256(content); err != nil || len(want) == 0 || !bytes.Equal(sum[:], want) {
		return nil, false
	}
	cfg, err := lang.Unarchive(string(content))
	return cfg, err == nil
}

// invocation encodes the options that say which configuration is read.
func (o *Options) invocation(salt []byte) []byte {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil
	}
	encoded, err := json.Marshal([]any{dir, o.File, o.Vars, o.VarFiles})
	if err != nil {
		return nil
	}
	return salted(salt, encoded)
}

// sameEnvironment reports whether every variable of the index has the value that it had.
func (i *index) sameEnvironment(lookup func(string) (string, bool)) bool {
	for _, was := range i.Env {
		value, set := lookup(was.Name)
		if now := sumOf(i.Salt, was.Name, envValue{value, set}); now.Set != was.Set || !bytes.Equal(now.Sum, was.Sum) {
			return false
		}
	}
	return true
}

// unchanged reports whether nothing in an encoded snapshot is different by now.
func unchanged(snapshot []byte) bool {
	s, err := cache.DecodeSnapshot(snapshot)
	return err == nil && s.Changed() == ""
}

// snapshot encodes sightings; nil when what they saw has changed since, or may change
// without a trace.
func snapshot(sightings []cache.Sighting) []byte {
	s, err := cache.TakeSnapshot(sightings)
	if err != nil {
		return nil
	}
	return s.Encode()
}

func newSalt() []byte {
	salt := make([]byte, 16)
	rand.Read(salt)
	return salt
}

// hasSecrets reports whether any value of a configuration must not be written down.
func hasSecrets(cfg *lang.Config) bool {
	if len(cfg.Secrets) > 0 {
		return true
	}
	for _, v := range cfg.Variables {
		if v.Sensitive {
			return true
		}
	}
	return false
}
