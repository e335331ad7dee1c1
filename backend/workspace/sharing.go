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
// files are cloned from the shelf on file systems which can do that, and copied
// from the store on others.
//
// Methods are safe for concurrent use.
type Sharing struct {
	store   cache.Store
	scratch func() (string, error)
	from    int64
	trial   func() (Way, error)

	mu      sync.Mutex
	weights map[cache.Digest]int64
}

// Way is how a shared tree gets into a workspace.
type Way string

// The ways. Programs cannot tell which one it is.
const (
	Mounted Way = "mounted"
	Cloned  Way = "cloned" // each file by itself, its blocks in common
	Copied  Way = "copied"
)

// NewSharing shares trees of store that weigh from bytes or more among workspaces
// below scratch, by mounts only if those are wanted. It tries nothing before it is
// needed.
func NewSharing(store cache.Store, scratch func() (string, error), from int64, mounts bool) *Sharing {
	s := &Sharing{store: store, scratch: scratch, from: from, weights: map[cache.Digest]int64{}}
	s.trial = sync.OnceValues(func() (Way, error) { return s.try(mounts) })
	return s
}

// Way returns how trees are shared here, and why in no better way.
func (s *Sharing) Way() (Way, error) { return s.trial() }

func (s *Sharing) try(mounts bool) (Way, error) {
	shelver, ok := s.store.(cache.Shelver)
	if !ok {
		return Copied, errors.New("sharing trees: the store has no files")
	}
	scratch, err := s.scratch()
	if err == nil {
		err = os.MkdirAll(shelver.ShelvesDir(), 0o777)
	}
	if err != nil {
		return Copied, fmt.Errorf("sharing trees: %w", err)
	}
	err = errors.New("no mounts are wanted")
	if mounts {
		err = tryOverlay(shelver.ShelvesDir(), scratch)
	}
	if err == nil {
		return Mounted, nil
	}
	if cloning := cache.CanClone(shelver.ShelvesDir(), scratch); cloning != nil {
		return Copied, fmt.Errorf("sharing trees: %w; %w", err, cloning)
	}
	return Cloned, fmt.Errorf("sharing trees: %w", err)
}

// wayOf returns how trees that are placed one after the other get where they
// belong.
func (s *Sharing) wayOf(ctx context.Context, inputs []backend.Input) (Way, error) {
	var sum int64
	for _, in := range inputs {
		weight, err := s.weight(ctx, in.Tree)
		if err != nil {
			return Copied, err
		}
		sum += weight
	}
	if len(inputs) == 0 || sum < s.from {
		return Copied, nil
	}
	way, _ := s.trial()
	return way, nil
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
