package remote

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
)

// OtherError means that a worker's identity differs from the identity in keys. Its work is broken.
type OtherError struct{ Host, Backend, Difference string }

func (e *OtherError) Error() string {
	return fmt.Sprintf("worker %s differs from earlier workers of backend %s: %s; if all of them changed, run again; if they differ, distinguish them by platform", e.Host, e.Backend, e.Difference)
}

// expectedIdentity returns the identity that a worker must have. Only an action that contains go-judge can report
// the identity of its sandbox, and it runs nothing else.
func (b *Backend) expectedIdentity(judge bool) (map[string]facts.Fact, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.facts.All()
	maps.DeleteFunc(all, func(what string, _ facts.Fact) bool { return what != wire.Place && (what == facts.Sandbox) != judge })
	return all, b.identityMismatch
}

// other returns the error of a worker with another identity. If no worker of this run has had the known
// identity, the new one replaces it for the next run, and this run executes nothing more.
func (b *Backend) other(expected map[string]facts.Fact, r *wire.Result) error {
	what := slices.Sorted(maps.Keys(r.Different))[0]
	err := &OtherError{r.Host, b.opt.Name, facts.Difference(what, expected[what], r.Different[what])}
	if b.confirmed.Load() {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.identityMismatch == nil {
		b.identityMismatch = err
	}
	return errors.Join(err, b.facts.Put(r.Different))
}
