package skypilot

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// Lease is the record of a cluster that a project has, or is about to launch.
type Lease struct {
	Cluster  string    `json:"cluster"`
	API      string    `json:"api"`     // address of the API server that knows it
	Backend  string    `json:"backend"` // address of the backend that it is for
	Machines string    `json:"machines"`
	Kind     string    `json:"kind"` // equal for interchangeable clusters
	Run      string    `json:"run"`
	Asked    time.Time `json:"asked"`
	Hourly   *float64  `json:"hourly,omitempty"` // US dollars; nil if unknown
	// Kept is the time until which the cluster waits for another run; zero while a run has it.
	Kept time.Time `json:"kept,omitzero"`
	// Ending is set when a cluster of a dead run is being ended: it must not be adopted any more.
	Ending bool   `json:"ending,omitempty"`
	Proof  string `json:"proof,omitempty"` // proof that this user wrote it
}

// Cost returns the cost of the cluster so far, in US dollars.
func (l *Lease) Cost(now time.Time) (dollars float64, known bool) {
	if l.Hourly == nil {
		return 0, false
	}
	return *l.Hourly * now.Sub(l.Asked).Hours(), true
}

// Leases are the leases of a project, files in a directory.
type Leases struct {
	Dir string
	Key backend.SessionKey
}

// clusterName matches names of clusters. Other names must not get into a path or a shell.
var clusterName = lazyregexp.New(`^fg-[a-z0-9]{1,16}-[a-z0-9]{6,16}$`)

// newName returns a name for a cluster of a project. project is an abbreviation.
func newName(project string) string {
	return "fg-" + strings.ToLower(project[:min(len(project), 6)]) + "-" + strings.ToLower(rand.Text()[:10])
}

func (s Leases) path(cluster string) string { return filepath.Join(s.Dir, cluster+".json") }

// Write makes or replaces the lease of a cluster. It is on disk when Write returns.
func (s Leases) Write(l Lease) error {
	l.Proof = s.proof(l)
	text, err := json.MarshalIndent(l, "", "  ")
	if err == nil {
		err = os.MkdirAll(s.Dir, 0o700)
	}
	if err == nil {
		err = atomicfile.WriteDurable(s.path(l.Cluster), 0o600, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the lease of cluster %s: %w", l.Cluster, err)
	}
	return nil
}

// adopt transfers the lease of a dead run to another run; ok is false if a third run was faster.
func (s Leases) adopt(ctx context.Context, old Lease, run string) (l Lease, ok bool, err error) {
	return s.change(ctx, old, func(l *Lease) { l.Run, l.Kept = run, time.Time{} })
}

// Retire prevents adoption of the cluster of a dead run before it is ended; ok is false if a run was
// faster.
func (s Leases) Retire(ctx context.Context, old Lease) (l Lease, ok bool, err error) {
	return s.change(ctx, old, func(l *Lease) { l.Ending, l.Kept = true, time.Time{} })
}

// change changes a lease unless another process has changed it since it was read.
func (s Leases) change(ctx context.Context, old Lease, to func(*Lease)) (l Lease, ok bool, err error) {
	lock, err := lockedfile.Wait(ctx, filepath.Join(s.Dir, "lock"))
	if err != nil {
		return old, false, fmt.Errorf("changing the lease of cluster %s: %w", old.Cluster, err)
	}
	defer lock.Remove()
	now, ok := s.read(old.Cluster)
	if !ok || now.Run != old.Run || now.Ending != old.Ending {
		return old, false, nil
	}
	to(&now)
	err = s.Write(now)
	return now, err == nil, err
}

// read returns the lease of a cluster if it is proven.
func (s Leases) read(cluster string) (l Lease, ok bool) {
	text, err := os.ReadFile(s.path(cluster))
	ok = err == nil && json.Unmarshal(text, &l) == nil && l.Cluster == cluster && s.proves(l)
	return l, ok
}

// proves reports whether a lease has this user's proof. Without a key, it returns false.
func (s Leases) proves(l Lease) bool {
	want := s.proof(l)
	return want != "" && subtle.ConstantTimeCompare([]byte(l.Proof), []byte(want)) == 1
}

// Remove removes the lease of a cluster that no longer exists.
func (s Leases) Remove(cluster string) error {
	if err := os.Remove(s.path(cluster)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the lease of cluster %s: %w", cluster, err)
	}
	return nil
}

// All returns the project's leases. It omits files without this user's proof: a cloned project must not be
// able to end clusters.
func (s Leases) All() ([]Lease, error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	var all []Lease
	for _, f := range files {
		name, isLease := strings.CutSuffix(f.Name(), ".json")
		if !isLease || !f.Type().IsRegular() || !clusterName().MatchString(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.Dir, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run ended it
		}
		if err != nil {
			return nil, fmt.Errorf("listing clusters: %w", err)
		}
		var l Lease
		if json.Unmarshal(text, &l) == nil && l.Cluster == name && s.proves(l) {
			all = append(all, l)
		}
	}
	return all, nil
}

// proof returns the proof of a lease, computed like proofs of sessions.
func (s Leases) proof(l Lease) string {
	if len(s.Key) == 0 {
		return ""
	}
	l.Proof = ""
	text, err := json.Marshal(l)
	if err != nil {
		return ""
	}
	return s.Key.Prove(l.Run, backend.Entry{ID: l.Cluster, Kind: Kind, Name: string(text)})
}

// Kind is the kind of backend that leases belong to.
const Kind = "skypilot"
