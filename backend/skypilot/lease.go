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

// Lease is a cluster that a project has, or is about to have.
type Lease struct {
	Cluster  string    `json:"cluster"`
	API      string    `json:"api"`     // address of the API server that knows it
	Backend  string    `json:"backend"` // address of the backend that it is for
	Machines string    `json:"machines"`
	Kind     string    `json:"kind"` // equal for clusters that can do each other's work
	Run      string    `json:"run"`
	Asked    time.Time `json:"asked"`
	Hourly   *float64  `json:"hourly,omitempty"` // US dollars; nil: not known
	// Kept is until when the cluster waits for another run; zero while a run has it.
	Kept time.Time `json:"kept,omitzero"`
	// Ending is set while a cluster of a dead run is ended, after which none may adopt it.
	Ending bool   `json:"ending,omitempty"`
	Proof  string `json:"proof,omitempty"` // that this user wrote it
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

// clusterName matches names of clusters. Nothing else must get into a path or a shell.
var clusterName = lazyregexp.New(`^fg-[a-z0-9]{1,16}-[a-z0-9]{6,16}$`)

// newName names a cluster of a project, which is given by some letters.
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

// adopt makes the lease of a dead run that of another; ok is false if a third was faster.
func (s Leases) adopt(ctx context.Context, old Lease, run string) (l Lease, ok bool, err error) {
	return s.change(ctx, old, func(l *Lease) { l.Run, l.Kept = run, time.Time{} })
}

// Retire prevents runs from adopting the cluster of a dead run, which is about to be ended; ok is false if a
// run was faster.
func (s Leases) Retire(ctx context.Context, old Lease) (l Lease, ok bool, err error) {
	return s.change(ctx, old, func(l *Lease) { l.Ending, l.Kept = true, time.Time{} })
}

// change changes a lease unless another has done so since it was read.
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

// read returns the lease of a cluster, if this user wrote it.
func (s Leases) read(cluster string) (l Lease, ok bool) {
	text, err := os.ReadFile(s.path(cluster))
	ok = err == nil && json.Unmarshal(text, &l) == nil && l.Cluster == cluster && s.proves(l)
	return l, ok
}

// proves reports whether a lease has the proof of this user. Without a key no lease has.
func (s Leases) proves(l Lease) bool {
	want := s.proof(l)
	return want != "" && subtle.ConstantTimeCompare([]byte(l.Proof), []byte(want)) == 1
}

// Remove removes the lease of a cluster of which nothing exists any more.
func (s Leases) Remove(cluster string) error {
	if err := os.Remove(s.path(cluster)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the lease of cluster %s: %w", cluster, err)
	}
	return nil
}

// All returns the project's leases. Files without this user's proof are left out: a cloned project must not
// have clusters ended.
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

// proof proves a lease as sessions are proved.
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
