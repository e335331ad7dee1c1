package remotehost

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// unusedAge is the time without use after which files that actions share are removed.
const unusedAge = 7 * 24 * time.Hour

// tidy removes files that were not used for a long time: environments, answers to earlier runs, and
// leftovers of killed isolation tests. The first action of a run on a machine calls it. Files that cannot
// be removed now are retried next time.
func (h *host) tidy() {
	before := time.Now().Add(-unusedAge)
	for _, e := range h.entries(environmentsDir) {
		dir := filepath.Join(h.base, environmentsDir, strings.TrimSuffix(e.Name(), lockSuffix))
		mark := filepath.Join(dir, seal)
		used, err := os.Stat(mark)
		switch {
		case err == nil && used.ModTime().Before(before):
			if os.Remove(mark) == nil {
				_ = workspace.Remove(dir)
			}
		case err != nil && age(e).Before(before): // an incomplete environment, or a lock without one
			_ = workspace.Remove(filepath.Join(h.base, environmentsDir, e.Name()))
		}
	}
	for _, e := range h.entries(answersDir) {
		if age(e).Before(before) {
			_ = os.Remove(filepath.Join(h.base, answersDir, e.Name()))
		}
	}
	for _, e := range h.entries("") {
		if strings.HasPrefix(e.Name(), "trial-") && age(e).Before(before) {
			_ = workspace.Remove(filepath.Join(h.base, e.Name()))
		}
	}
}

func (h *host) entries(dir string) []os.DirEntry {
	all, _ := os.ReadDir(filepath.Join(h.base, dir))
	return all
}

// age returns when a file was last changed.
func age(e os.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Now()
	}
	return info.ModTime()
}
