package buildlog

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// testKey proves the entries of tests.
var testKey = proof.Key("key")

func openLog(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(path, testKey)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func stat(t testing.TB, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func appendLog(t testing.TB, l *Log, entries ...Entry) {
	t.Helper()
	for _, e := range entries {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func entryOf(i int) Entry {
	return Entry{
		Addr:     fmt.Sprintf("pytest/p/checkpoint_%d@local.host", i),
		Key:      cache.Key{byte(i), byte(i >> 8), 1},
		Class:    cache.ClassDone,
		Outputs:  []cache.Output{{Name: "report", Digest: cache.SumBytes(nil)}, {Name: "tree", Digest: cache.SumBytes([]byte("t")), Tree: true}},
		Message:  "ok",
		Attempts: 1 + i%3,
		Seconds:  float64(i) / 7,
		Run:      "run",
	}
}

func TestLogRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "log")
	l := openLog(t, path)
	want := []Entry{
		entryOf(1),
		{Addr: "never answered", Broken: "no such image"},
		{Addr: "answered, then broken", Key: cache.Key{2}, Class: cache.ClassTimeout, Seconds: math.MaxFloat64, Broken: "disk full"},
		{Addr: "odd numbers", Key: cache.Key{3}, Class: cache.ClassFailed, Attempts: -1, Seconds: math.Inf(1)},
		{Addr: "ünï\x00côde\n", Key: cache.Key{4}, Class: cache.ClassDone, Message: strings.Repeat("long ", 1<<16)},
	}
	appendLog(t, l, want...)
	check := func(name string, l *Log) {
		t.Helper()
		var addrs []string
		for _, e := range want {
			if got, ok := l.Get(e.Addr); !ok || !reflect.DeepEqual(got, e) {
				t.Errorf("%s: Get(%q) = %+v, %v", name, e.Addr, got, ok)
			}
			addrs = append(addrs, e.Addr)
		}
		slices.Sort(addrs)
		if got := l.Addrs(); !slices.Equal(got, addrs) {
			t.Errorf("%s: Addrs = %q; want %q", name, got, addrs)
		}
		if _, ok := l.Get("absent"); ok || l.Dropped() != 0 {
			t.Errorf("%s: knows an absent one or dropped %d", name, l.Dropped())
		}
	}
	check("as appended", l)
	check("opened beside it", openLog(t, path))
	ro, err := Read(path, testKey)
	if err != nil {
		t.Fatal(err)
	}
	check("read", ro)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	check("closed", l)
	if l.Append(want[0]) == nil || ro.Append(want[0]) == nil {
		t.Error("a closed or read log took an entry")
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close = %v", err)
	}
}

func TestLogRefuses(t *testing.T) {
	l := openLog(t, filepath.Join(t.TempDir(), "log"))
	for name, e := range map[string]Entry{
		"no address":        {},
		"class without key": {Addr: "a", Class: cache.ClassDone},
		"key without class": {Addr: "a", Key: cache.Key{1}},
		"class broken":      {Addr: "a", Key: cache.Key{1}, Class: "broken"},
		"too large":         {Addr: "a", Message: strings.Repeat("x", maxPayload)},
	} {
		if err := l.Append(e); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if fi := stat(t, l.path); fi.Size() != 0 {
		t.Errorf("the log has %d bytes", fi.Size())
	}
}

func TestReadMakesNothing(t *testing.T) {
	dir := t.TempDir()
	l, err := Read(filepath.Join(dir, "sub", "log"), testKey)
	if err != nil || len(l.Addrs()) != 0 || l.Dropped() != 0 {
		t.Errorf("%v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("made %q", left)
	}
}

// write makes a log of the entries 0 to n-1 and returns its bytes and where
// each frame ends.
func writeLog(t testing.TB, n int) (whole []byte, ends []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	for i := range n {
		appendLog(t, l, entryOf(i))
		ends = append(ends, int(stat(t, path).Size()))
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole, ends
}

// A tail torn at any byte costs the entry it tears, and the next append works.
func TestLogTornTail(t *testing.T) {
	whole, ends := writeLog(t, 4)
	path := filepath.Join(t.TempDir(), "log")
	for size := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		intact, boundary := 0, size == 0
		for _, end := range ends {
			if end <= size {
				intact++
			}
			boundary = boundary || end == size
		}
		dropped := 1
		if boundary {
			dropped = 0
		}
		ro, err := Read(path, testKey)
		if err != nil || ro.Dropped() != dropped || len(ro.Addrs()) != intact {
			t.Fatalf("%d bytes: read %d entries, dropped %d, %v; want %d and %d", size, len(ro.Addrs()), ro.Dropped(), err, intact, dropped)
		}
		if size%7 != 0 { // appending takes longer
			continue
		}
		l := openLog(t, path)
		appendLog(t, l, entryOf(9))
		l.Close()
		l = openLog(t, path)
		if l.Dropped() != 0 || len(l.Addrs()) != intact+1 {
			t.Fatalf("%d bytes and an append: %d entries, dropped %d; want %d and 0", size, len(l.Addrs()), l.Dropped(), intact+1)
		}
		l.Close()
	}
}

// A process that appends to a log whose tail another one tore loses nothing
// but the torn entry, even before anybody compacts.
func TestLogResync(t *testing.T) {
	whole, ends := writeLog(t, 3)
	for cut := ends[0] + 1; cut < ends[1]; cut++ {
		b := slices.Concat(whole[:cut], whole[ends[1]:])
		l := &Log{framer: newFramer(testKey)}
		l.load(b)
		if l.dropped != 1 || len(l.entries) != 2 {
			t.Fatalf("second entry cut at %d: %d entries, dropped %d", cut-ends[0], len(l.entries), l.dropped)
		}
	}
}

// No flipped bit changes an entry: it costs that entry and no other.
func TestLogBitFlips(t *testing.T) {
	const n = 3
	whole, ends := writeLog(t, n)
	for bit := range len(whole) * 8 {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		l := &Log{framer: newFramer(testKey)}
		l.load(b)
		hit, _ := slices.BinarySearch(ends, bit/8+1)
		for i := range n {
			got, ok := l.Get(entryOf(i).Addr)
			if ok != (i != hit) || ok && !reflect.DeepEqual(got, entryOf(i)) {
				t.Fatalf("bit %d, in entry %d: entry %d is %v %+v", bit, hit, i, ok, got)
			}
		}
		if l.dropped != 1 || len(l.entries) != n-1 {
			t.Fatalf("bit %d: %d entries, dropped %d", bit, len(l.entries), l.dropped)
		}
	}
}

// A message cannot smuggle in an entry that shows when the one
// around it is damaged.
func TestLogForgery(t *testing.T) {
	forged := entryOf(2)
	forged.Addr = "forged"
	f := newFramer(testKey)
	frame, err := appendEntry(f.start(nil), &forged)
	if err != nil {
		t.Fatal(err)
	}
	f.seal(frame)
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	e := entryOf(1)
	e.Message, e.Broken, e.Run, e.Outputs[0].Name = string(frame), string(frame), string(frame), string(frame)
	appendLog(t, l, e)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[frameHeader+2] ^= 1
	l = &Log{framer: newFramer(testKey)}
	if l.load(b); len(l.entries) != 0 || l.dropped != 1 {
		t.Errorf("found %q in the ruins, dropped %d", l.Addrs(), l.dropped)
	}
}

func TestLogGarbageAround(t *testing.T) {
	whole, ends := writeLog(t, 2)
	noise := []byte("noise " + frameMark + "\x05\x00\x00\x00 " + frameMark[:3])
	b := slices.Concat(noise, whole[:ends[0]], noise, noise, whole[ends[0]:], noise)
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, path)
	if len(l.Addrs()) != 2 || l.Dropped() != 4 {
		t.Errorf("%d entries, dropped %d; want 2 and 4", len(l.Addrs()), l.Dropped())
	}
	if after := stat(t, path).Size(); after != int64(len(whole)) {
		t.Errorf("opening left %d bytes; want the garbage gone: %d", after, len(whole))
	}
}

func TestLogCompaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	a, b := openLog(t, path), openLog(t, path)
	const rounds = 2000
	for i := range rounds {
		e := entryOf(i % 5)
		e.Attempts = i
		appendLog(t, a, e)
		if i%100 == 0 {
			e.Addr = fmt.Sprint("b", i)
			appendLog(t, b, e)
		}
	}
	if size := stat(t, path).Size(); size > 3*compactSlack/2 {
		t.Errorf("not compacted: %d bytes", size)
	}
	appendLog(t, b, entryOf(7)) // b follows to the new file
	l := openLog(t, path)
	if got := len(l.Addrs()); got != 5+rounds/100+1 || l.Dropped() != 0 {
		t.Errorf("%d entries, dropped %d; want %d and 0", got, l.Dropped(), 5+rounds/100+1)
	}
	for i := range 5 {
		if e, _ := l.Get(entryOf(i).Addr); e.Attempts != rounds-5+i {
			t.Errorf("entry %d is of round %d; want the last", i, e.Attempts)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 2 {
		t.Errorf("files: %v; want the log and its lock", left)
	}
}

func TestLogRemovedUnderneath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	appendLog(t, l, entryOf(1))
	if err := os.Remove(path); err != nil { // fevalgraph clean, say
		t.Fatal(err)
	}
	appendLog(t, l, entryOf(2))
	if got := openLog(t, path).Addrs(); len(got) != 1 {
		t.Errorf("the new log has %q; want the later entry", got)
	}
}

func BenchmarkOpen(b *testing.B) {
	var whole []byte
	f := newFramer(testKey)
	const n = 100_000
	for i := range n {
		e := entryOf(i)
		start := len(whole)
		whole, _ = appendEntry(f.start(whole), &e)
		f.seal(whole[start:])
	}
	path := filepath.Join(b.TempDir(), "log")
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(whole)))
	b.ReportAllocs()
	for b.Loop() {
		if l, err := Read(path, testKey); err != nil || len(l.entries) != n {
			b.Fatal(err, len(l.entries))
		}
	}
}

// A caller that asks for few entries gets them, adds to the log, and takes nothing from it.
func TestLogOfSome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	entry := func(addr, message string) Entry {
		return Entry{Addr: addr, Key: cache.Key{1}, Class: cache.ClassDone, Message: message}
	}
	whole, err := Open(path, testKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"a", "b", "c"} {
		if err := whole.Append(entry(addr, "first")); err != nil {
			t.Fatal(err)
		}
	}
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	wanted := []string{"b", "d"}
	some, err := OpenOf(path, testKey, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if got := some.Addrs(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("it has %q", got)
	}
	long := strings.Repeat("x", compactSlack)
	for i := range 5 { // enough garbage to be worth a compaction
		if err := some.Append(entry("b", fmt.Sprint(i, long))); err != nil {
			t.Fatal(err)
		}
	}
	if err := some.Append(entry("d", "new")); err != nil {
		t.Fatal(err)
	}
	if e, ok := some.Get("b"); !ok || e.Message != "4"+long {
		t.Errorf("b is %.20q, %v", e.Message, ok)
	}
	if err := some.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := ReadOf(path, testKey, wanted)
	if err != nil || !slices.Equal(read.Addrs(), []string{"b", "d"}) {
		t.Errorf("it has %q, %v", read.Addrs(), err)
	}
	if whole, err = Open(path, testKey); err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	if got := whole.Addrs(); !slices.Equal(got, []string{"a", "b", "c", "d"}) || whole.Dropped() != 0 {
		t.Errorf("the log has %q, and lost %d", got, whole.Dropped())
	}
}
