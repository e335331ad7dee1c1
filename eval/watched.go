package eval

import (
	"errors"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

const (
	// pollInterval is the shortest time between two looks at the inputs, and the pause that ends a burst of
	// changes. It is longer than a tick of the clock for file times.
	pollInterval = 500 * time.Millisecond
	// pollShare is the shortest time between two looks, in durations of a look.
	pollShare = 10
	// maxBurst limits a burst, in intervals: changes that never stop, such as those of a log, must not block a call.
	maxBurst = 10
)

// watched holds the states of the paths that a call read. While they are unchanged, another call would have the
// same result. Paths that calls write do not count, with one exception: if a call makes a file in a directory that
// it listed, the call is repeated.
type watched struct {
	snapshots  []*cache.Snapshot
	named      *cache.Snapshot // files that the request names, also where calls write
	own        []string        // paths that calls write, including everything below
	unreadable []cache.Probe   // paths whose state could not be read
	changed    string          // a path that changed, or can have changed, since it was read; or ""
}

// see adds the states of paths.
func (w *watched) see(sightings []cache.Sighting) {
	var readable []cache.Sighting
	for _, one := range sightings {
		switch {
		case w.isOwn(one.Probe):
		case one.Err() != nil:
			w.unreadable = append(w.unreadable, one.Probe)
		default:
			readable = append(readable, one)
		}
	}
	w.snapshots = append(w.snapshots, w.take(readable))
}

// take returns a snapshot of paths, and keeps a path whose state it cannot record.
func (w *watched) take(sightings []cache.Sighting) *cache.Snapshot {
	taken, errs := cache.TakeEach(sightings)
	for _, err := range errs {
		var changed *cache.ChangedError
		var unsettled *cache.UnsettledError
		switch {
		case errors.As(err, &changed):
			w.changed = changed.Path
		case errors.As(err, &unsettled):
			w.changed = unsettled.Path
		}
	}
	return taken
}

func (w *watched) isOwn(p cache.Probe) bool {
	return slices.ContainsFunc(w.own, func(own string) bool { return subpath.Contains(own, p.Path) })
}

// difference returns a path that has changed or might have changed, or "".
func (w *watched) difference() string {
	for _, taken := range w.snapshots {
		if path := taken.ChangedBut(w.isOwn); path != "" {
			return path
		}
	}
	if path := w.named.Changed(); path != "" {
		return path
	}
	for _, p := range w.unreadable {
		if p.Sight().Err() == nil {
			return p.Path
		}
	}
	return w.changed
}

// wait polls until a path differs and the burst of changes is over, and returns the path. It fails if sleep does.
func (w *watched) wait(sleep func(time.Duration) error) (string, error) {
	for {
		began := time.Now()
		if w.difference() != "" {
			if err := w.awaitStill(sleep); err != nil {
				return "", err
			}
			if path := w.difference(); path != "" { // not of a temporary file, by now
				return path, nil
			}
			continue
		}
		if err := sleep(max(pollInterval, pollShare*time.Since(began))); err != nil {
			return "", err
		}
	}
}

// awaitStill waits until the paths do not change for an interval.
func (w *watched) awaitStill(sleep func(time.Duration) error) error {
	for range maxBurst {
		now := &watched{own: w.own, named: &cache.Snapshot{}}
		for _, taken := range append(slices.Clone(w.snapshots), w.named) {
			var all []cache.Sighting
			for p := range taken.Probes {
				all = append(all, p.Sight())
			}
			now.see(all)
		}
		if err := sleep(pollInterval); err != nil || now.difference() == "" {
			return err
		}
	}
	return nil
}
