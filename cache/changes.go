package cache

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// snapshotChunk is how many paths a worker takes at a time.
const snapshotChunk = 256

// Changes are what Snapshot.Changes found.
type Changes struct {
	// Files are regular files with a digest that hold other bytes by now, or have
	// another mode, and still are regular files. They are sorted.
	Files []string
	// Other is a path of which something else changed; "" when none has. There
	// may be more of them, and Files then lacks some.
	Other string
}

// Changed returns a path that is not as it was, or "" when all are.
func (s *Snapshot) Changed(ctx context.Context) string { return s.Changes(ctx, 0).Other }

// Changes looks at every path again, as many at once as there are processors.
// More files than limit are Other.
func (s *Snapshot) Changes(ctx context.Context, limit int) Changes {
	var next atomic.Int64
	var other atomic.Pointer[string]
	var mu sync.Mutex
	var files []string
	found := func(path string, file bool) {
		mu.Lock()
		defer mu.Unlock()
		if !file || len(files) == limit {
			other.CompareAndSwap(nil, &path)
			return
		}
		files = append(files, path)
	}
	var group sync.WaitGroup
	all := s.Len()
	for range min(runtime.GOMAXPROCS(0), all/snapshotChunk+1) {
		group.Go(func() {
			for other.Load() == nil && ctx.Err() == nil {
				from := int(next.Add(snapshotChunk)) - snapshotChunk
				if from >= all {
					return
				}
				for i := from; i < min(from+snapshotChunk, all); i++ {
					r := s.record(i)
					if same, file := s.look(r); !same {
						path := s.path(r)
						found(string(path[:len(path)-1]), file)
					}
				}
			}
		})
	}
	group.Wait()
	c := Changes{Files: files}
	slices.Sort(c.Files)
	if p := other.Load(); p != nil {
		c.Other = *p
	} else if ctx.Err() != nil {
		c.Other = "(interrupted)"
	}
	return c
}
