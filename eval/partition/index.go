package partition

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report"
)

// Index is the file that lists the partitions of a project and what they were compiled and decided from. A
// run that can write replaces it at its end.
//
// Three things decide how much of it is valid. While the base is the same, a partition whose identity is
// unchanged can be taken over. While the configuration's inputs are the same, too, no HCL is evaluated.
// Whether a partition is fresh is then decided by its own facts.
type Index struct {
	BaseFiles []byte // cache.Snapshot of the program and the lock file
	Indexed
}

// Indexed is the content of the index besides BaseFiles.
type Indexed struct {
	Salt []byte   // of every digest of possibly sensitive data
	Base []byte   // the program's version and the store, salted
	Env  []EnvSum // every variable that was read

	Invocation []byte // the options that select the configuration, salted
	Inputs     []byte // cache.Snapshot of the inputs of evaluation; nil if they had just changed
	Root       string
	Settings   lang.Settings
	Warnings   diag.List
	Config     []byte // SHA-256 of the file with the evaluated configuration, or nil

	// Needed means that each call needs the whole configuration: it has exports, result blocks, a suite that stops early, or
	// nodes that are in no partition.
	Needed bool

	Shared []Shared
	Parts  []Ref // in the order of results
}

// Shared is the state of a node or a backend that partitions share. One of Snapshot and Backend is set.
type Shared struct {
	Addr     string
	Snapshot []byte   // cache.Snapshot of the paths that the node reads
	Backend  *Backend // with its answers about itself
}

// CommonRef names a shared node, and its outputs when this partition was decided: a task that is not
// reproducible can have other outputs now.
type CommonRef struct {
	Addr    string
	Outputs [sha256.Size]byte
}

// SumOutputs returns the sum of a node's outputs for a CommonRef.
func SumOutputs(outputs []cache.Output) [sha256.Size]byte {
	h := sha256.New()
	for _, o := range outputs {
		fmt.Fprintf(h, "%q %s %v\n", o.Name, o.Digest, o.Tree)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Ref is a partition of the index.
type Ref struct {
	Problem string
	First   string
	ID      []byte // its fingerprint, salted; nil if it has none
	File    Name   // zero if the partition is not fresh
}

// Facts are the first section of a partition file.
type Facts struct {
	Run      string      // run that decided the partition
	Used     int64       // seconds since 1970 of the last recorded use of stored outputs
	Snapshot []byte      // cache.Snapshot of the paths that only its own nodes read
	Own      int         // nodes that no other partition has
	Common   []CommonRef // shared nodes
	Backends []string    // addresses
	Summary  []report.CellRow
	Tasks    []report.Task // tasks that its cells need
}

func indexPath(state string) string  { return filepath.Join(StoreIn(state).Dir, "index") }
func configPath(state string) string { return filepath.Join(StoreIn(state).Dir, "configuration") }

// ReadIndex reads the index. It returns nil if the index is missing, damaged or not proven at the place, or if
// the program or the lock file has changed. The proof covers everything that it names by digest: partition
// files and the configuration. Its encoding has no field names, so only the program that wrote it can read it:
// a snapshot of the program comes first.
func ReadIndex(state string, place proof.Place) *Index {
	content := place.Read(indexPath(state))
	if len(content) < 8 {
		return nil
	}
	size, rest := binary.LittleEndian.Uint64(content), content[8:]
	if size > uint64(len(rest)) || !Unchanged(rest[:size]) {
		return nil
	}
	i := &Index{BaseFiles: rest[:size]}
	if frozen.Decode(rest[size:], &i.Indexed) != nil || len(i.Salt) == 0 {
		return nil
	}
	return i
}

// Write replaces the index of a project.
func (i *Index) Write(state string, place proof.Place) error {
	content := binary.LittleEndian.AppendUint64(nil, uint64(len(i.BaseFiles)))
	content, err := frozen.Append(append(content, i.BaseFiles...), &i.Indexed)
	if err != nil {
		return err
	}
	return place.Write(indexPath(state), 0o600, content)
}

// WriteConfig stores the evaluated configuration and returns its digest, or nil for a configuration that
// must be evaluated each time, because it has secrets or waits for results.
func WriteConfig(state string, cfg *lang.Config) ([]byte, error) {
	if HasSecrets(cfg) {
		return nil, os.RemoveAll(configPath(state)) // a stored configuration from before it had secrets
	}
	evaluated := *cfg
	evaluated.Generators = nil // evaluation ignores them, and their requests wait for answers
	content, err := lang.Archive(&evaluated)
	if err != nil {
		return nil, nil //nolint:nilerr // it cannot be encoded
	}
	sum := sha256.Sum256(content)
	if known, err := os.ReadFile(configPath(state)); err == nil && bytes.Equal(known, content) {
		return sum[:], nil
	}
	return sum[:], atomicfile.Write(configPath(state), 0o600, content)
}

// ReadConfig reads the configuration with a digest.
func ReadConfig(state string, want []byte) (*lang.Config, bool) {
	content, err := os.ReadFile(configPath(state))
	if sum := sha256.Sum256(content); err != nil || len(want) == 0 || !bytes.Equal(sum[:], want) {
		return nil, false
	}
	cfg, err := lang.Unarchive(content)
	return cfg, err == nil
}

// SameEnvironment reports whether every variable of the Index has the value that it had.
func (i *Index) SameEnvironment(lookup func(string) (string, bool)) bool {
	for _, was := range i.Env {
		value, set := lookup(was.Name)
		if now := sumOf(i.Salt, was.Name, envValue{value, set}); now.Set != was.Set || !bytes.Equal(now.Sum, was.Sum) {
			return false
		}
	}
	return true
}

// Unchanged reports whether all paths of an encoded snapshot are unchanged.
func Unchanged(snapshot []byte) bool {
	s, err := cache.DecodeSnapshot(snapshot)
	return err == nil && s.Changed() == ""
}

// Snapshot encodes sightings. It returns nil if their paths have changed since, or can change without a
// trace.
func Snapshot(sightings []cache.Sighting) []byte {
	s, err := cache.TakeSnapshot(sightings)
	if err != nil {
		return nil
	}
	return s.Encode()
}

// NewSalt returns a random salt.
func NewSalt() []byte {
	salt := make([]byte, 16)
	rand.Read(salt)
	return salt
}

// HasSecrets reports whether a configuration contains values that must not be stored.
func HasSecrets(cfg *lang.Config) bool {
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
