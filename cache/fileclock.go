package cache

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// callerClock is the clock of this process. Tests replace it.
var callerClock = time.Now

// fileClocks knows how far the clock of this process is ahead of the clocks that stamp files: a file server has its
// own. Without that, a file that was just written would look as if it were old.
type fileClocks struct {
	mu    sync.Mutex
	known map[uint64]fileClock // by identity of the file system
	dirs  []string             // our own directories, where files can be created
}

type fileClock struct {
	ahead    int64 // nanoseconds
	at       time.Time
	attempts int // without an answer
}

var clocks = fileClocks{known: map[uint64]fileClock{}}

const (
	// clockAge is the time after which a clock is read again: clocks are adjusted.
	clockAge = time.Minute
	// clockAttempts limits the directories that are tried for a file system on which nothing can be created.
	clockAttempts = 32
	// clockFile is the file that is created where a file system has no files without names.
	clockFile = "clock"
)

// addDir adds a directory of this program, which need not exist.
func (c *fileClocks) addDir(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.dirs, dir) {
		c.dirs = append(c.dirs, dir)
	}
}

// ahead returns how far the caller's clock is ahead of the file system of path, by the stamp of a file that it creates
// there. It returns 0 if it cannot create one.
func (c *fileClocks) ahead(path string, dev uint64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	clock, known := c.known[dev]
	if known && time.Since(clock.at) < clockAge && (clock.attempts == 0 || clock.attempts >= clockAttempts) {
		return clock.ahead
	}
	for _, dir := range append([]string{filepath.Dir(path)}, c.dirs...) {
		if stamp, on, ok := stampIn(dir, slices.Contains(c.dirs, dir)); ok && on == dev {
			clock = fileClock{ahead: callerClock().UnixNano() - stamp, at: time.Now()}
			if stamp%1e9 != 0 && clock.ahead < fineTick/2 { // the rest of the tick has room for it
				clock.ahead = 0
			}
			c.known[dev] = clock
			return clock.ahead
		}
	}
	c.known[dev] = fileClock{ahead: clock.ahead, at: time.Now(), attempts: clock.attempts + 1}
	return clock.ahead
}

// stampNamed is stampIn by a file with a name, which is removed.
func stampNamed(dir string) (stamp int64, dev uint64, ok bool) {
	f, err := os.CreateTemp(dir, clockFile)
	if err != nil {
		return 0, 0, false
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.WriteString("\n"); err != nil {
		return 0, 0, false
	}
	return stampOf(f, dir)
}

func stampOf(f *os.File, dir string) (stamp int64, dev uint64, ok bool) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, false
	}
	state, _ := stateOf(dir, info)
	return state.mtime, state.dev, true
}
