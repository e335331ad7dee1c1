package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// DefaultShareFrom is the weight, in bytes, from which a tree that many
// workspaces have is worth a mount: making and removing one takes as long as
// copying so much.
const DefaultShareFrom = 1 << 20

// Sharing is how workspaces come to large trees that many of them have: each
// sees the tree as its own, and may change it, while its files are there once.
//
// The tree lies on a shelf of the store. The workspace's directory is covered by
// an overlay whose lower layer is the shelf and whose upper one is the directory
// itself: what is read comes from the shelf, what is written goes to the
// workspace. All of the directory is covered, so that files can be renamed
// within it as ever. The mount is in a mount namespace of the workspace's own,
// which commands enter, and ends with it or with the last of its processes; no
// other process sees it, and nothing has to be unmounted.
//
// It takes Linux and the right to administer the system. Without either, or where
// a trial shows that an overlay of these directories does not behave like them,
// trees are copied.
//
// Methods are safe for concurrent use.
type Sharing struct {
	store   cache.Store
	scratch func() (string, error)
	from    int64
	trial   func() error

	mu      sync.Mutex
	weights map[cache.Digest]int64
}

// NewSharing shares trees of store that weigh from bytes or more among workspaces
// below scratch. It tries nothing before it is needed.
func NewSharing(store cache.Store, scratch func() (string, error), from int64) *Sharing {
	s := &Sharing{store: store, scratch: scratch, from: from, weights: map[cache.Digest]int64{}}
	s.trial = sync.OnceValue(s.try)
	return s
}

// Possible returns why nothing can be shared here, or nil.
func (s *Sharing) Possible() error { return s.trial() }

func (s *Sharing) try() error {
	shelver, ok := s.store.(cache.Shelver)
	if !ok {
		return errors.New("sharing trees: the store has no files")
	}
	scratch, err := s.scratch()
	if err == nil {
		err = os.MkdirAll(shelver.ShelvesDir(), 0o777)
	}
	if err == nil {
		err = tryOverlay(shelver.ShelvesDir(), scratch)
	}
	if err != nil {
		return fmt.Errorf("sharing trees: %w", err)
	}
	return nil
}

// worth reports whether trees that are placed one after the other are to be
// shared.
func (s *Sharing) worth(ctx context.Context, inputs []backend.Input) (bool, error) {
	var sum int64
	for _, in := range inputs {
		weight, err := s.weight(ctx, in.Tree)
		if err != nil {
			return false, err
		}
		sum += weight
	}
	return len(inputs) > 0 && sum >= s.from && s.trial() == nil, nil
}

// shelf returns the tree on a shelf, below at; nil when none can be made.
func (s *Sharing) shelf(ctx context.Context, tree cache.Digest, at string) (*cache.Shelf, error) {
	shelf, err := s.store.(cache.Shelver).Shelf(ctx, tree, at)
	if errors.Is(err, cache.ErrReadOnly) {
		return nil, nil
	}
	return shelf, err
}

// weight asks for the weight of each tree once.
func (s *Sharing) weight(ctx context.Context, tree cache.Digest) (int64, error) {
	s.mu.Lock()
	known, ok := s.weights[tree]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	weight, err := cache.TreeWeight(ctx, s.store, tree)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.weights[tree] = weight
	return weight, nil
}
