package buildlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
)

// indexedLog writes a log of entries "a:0", "a:1" ... whose messages say how often
// each was written, and lets a reader pick from it, which leaves an index.
func indexedLog(t testing.TB, n, times int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	for round := range times {
		for i := range n {
			appendLog(t, l, numbered(i, round))
		}
	}
	pick(t, path, "a:0")
	if _, err := os.Stat(path + ".index"); err != nil {
		t.Fatal(err)
	}
	return path
}

func numbered(i, round int) Entry {
	return Entry{Addr: fmt.Sprintf("a:%d", i), Key: cache.Key{1}, Class: cache.ClassDone, Message: fmt.Sprint("round ", round)}
}

// pick opens the log for some addresses, and closes it.
func pick(t testing.TB, path string, addrs ...string) *Log {
	t.Helper()
	l, err := OpenOf(path, testKey, addrs)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// usesIndex reports whether who picks from the log relies on its index: it then does
// not see what else is in the file.
func usesIndex(t testing.TB, path string) bool {
	t.Helper()
	l := &Log{path: path}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return l.indexFor(f) != nil
}

// Who picks with an index finds the last entry of each address, as all of the log
// has it, those included that were appended later.
func TestIndex(t *testing.T) {
	path := indexedLog(t, 50, 3)
	if !usesIndex(t, path) {
		t.Fatal("the index is not of the log")
	}
	l, err := OpenOf(path, testKey, []string{"a:7"})
	if err != nil {
		t.Fatal(err)
	}
	appendLog(t, l, numbered(7, 8))
	appendLog(t, l, numbered(60, 9))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if !usesIndex(t, path) {
		t.Fatal("two more entries made the index useless")
	}
	picked := pick(t, path, "a:7", "a:8", "a:49", "a:60", "a:61")
	for addr, want := range map[string]string{"a:7": "round 8", "a:8": "round 2", "a:49": "round 2", "a:60": "round 9"} {
		if e, ok := picked.Get(addr); !ok || e.Message != want || e.Addr != addr {
			t.Errorf("%s is %+v, %v; want %s", addr, e, ok, want)
		}
	}
	if got := picked.Addrs(); len(got) != 4 {
		t.Errorf("picked %q", got)
	}
	if info, err := os.Stat(path); err != nil || picked.size != info.Size() {
		t.Errorf("%d bytes of %d", picked.size, info.Size())
	}
}

// An index that is damaged, of another log, or of too little of this one, is as good
// as none, and is made again.
func TestIndexOfNoUse(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"damaged": func(path string) error {
			b, err := os.ReadFile(path + ".index")
			if err != nil {
				return err
			}
			b[len(b)/2] ^= 1
			return os.WriteFile(path+".index", b, 0o600)
		},
		"gone": func(path string) error { return os.Remove(path + ".index") },
		"of a log that was replaced": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+".other", b, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".other", path)
		},
		"of a log that ended otherwise": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			other := openLog(t, path+".other")
			appendLog(t, other, numbered(1, 5))
			more, err := os.ReadFile(path + ".other")
			if err != nil {
				return err
			}
			b = b[:bytes.LastIndex(b, []byte(frameMark))]
			return os.WriteFile(path, append(b, more...), 0o600)
		},
		"of a log that was compacted": func(path string) error {
			l, err := Open(path, testKey)
			if err != nil {
				return err
			}
			return l.compact()
		},
		"of a log that grew": func(path string) error {
			l := openLog(t, path)
			long := numbered(1, 3)
			long.Message = strings.Repeat("m", 2*compactSlack)
			appendLog(t, l, long)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := indexedLog(t, 20, 2)
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			if usesIndex(t, path) {
				t.Fatal("it is used")
			}
			all, err := Read(path, testKey)
			if err != nil {
				t.Fatal(err)
			}
			picked := pick(t, path, all.Addrs()...)
			if !slices.Equal(picked.Addrs(), all.Addrs()) {
				t.Errorf("picked %q of %q", picked.Addrs(), all.Addrs())
			}
			for _, addr := range all.Addrs() {
				got, _ := picked.Get(addr)
				if want, _ := all.Get(addr); got.Message != want.Message {
					t.Errorf("%s is %.20q, want %.20q", addr, got.Message, want.Message)
				}
			}
			if !usesIndex(t, path) {
				t.Error("it is not made again")
			}
		})
	}
}

// What an index leads to is looked at: damage there is found as in a pass over all.
func TestIndexLeadsToDamage(t *testing.T) {
	path := indexedLog(t, 200, 1) // more than the end that tells logs apart
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("a:3"))
	b[at+40] ^= 1
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !usesIndex(t, path) {
		t.Fatal("the index is not used")
	}
	picked := pick(t, path, "a:3", "a:4")
	if got := picked.Addrs(); !slices.Equal(got, []string{"a:4"}) || picked.Dropped() != 1 {
		t.Errorf("picked %q, and lost %d", got, picked.Dropped())
	}
}

// Reading alone writes nothing.
func TestIndexIsNotForReaders(t *testing.T) {
	path := indexedLog(t, 3, 1)
	if err := os.Remove(path + ".index"); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOf(path, testKey, []string{"a:1"}); err != nil {
		t.Fatal(err)
	}
	if usesIndex(t, path) {
		t.Error("a reader left an index")
	}
}

func FuzzIndex(f *testing.F) {
	path := indexedLog(f, 3, 1)
	b, err := os.ReadFile(path + ".index")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:indexHead])
	f.Fuzz(func(t *testing.T, b []byte) {
		if x := decodeIndex(b); x != nil {
			if !bytes.Equal(x.encode(), b) {
				t.Error("it is written otherwise")
			}
			x.find("a:1")
		}
	})
}
