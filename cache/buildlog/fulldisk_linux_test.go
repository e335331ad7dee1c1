package buildlog

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

func TestFullDisk(t *testing.T) {
	dir, _ := ramdir.Small(t)
	path := filepath.Join(dir, "log")
	l := openLog(t, path)
	appendLog(t, l, Entry{Addr: "first", Key: cache.Key{1}, Class: cache.ClassDone})
	ramdir.Fill(t, dir)

	// The log has the rest of its page to fill before it needs another.
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		err = l.Append(Entry{Addr: "big", Message: strings.Repeat("m", 200)})
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Append = %v; want ENOSPC", err)
	}
	if r, err := Read(path, testKey); err != nil || r.Dropped() != 0 {
		t.Errorf("the log after it: %v, %d dropped", err, r.Dropped())
	}
	if _, ok := l.Get("first"); !ok {
		t.Error("the first entry is gone")
	}
}
