package buildlog

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// Who picks entries from a log finds what is there, as who loads all of it does,
// whatever the file holds.
func TestLogPicked(t *testing.T) {
	whole, ends := writeLog(t, 5)
	long := Entry{Addr: "a:long", Message: strings.Repeat("m", 3*streamBuffer), Broken: "why"}
	frame, err := appendEntry(newFramer(testKey).start(nil), &long)
	if err != nil {
		t.Fatal(err)
	}
	newFramer(testKey).seal(frame)
	flipped := bytes.Clone(whole)
	flipped[ends[2]+frameHeader+60] ^= 1
	address := bytes.Clone(whole)
	address[ends[2]+frameHeader+5] ^= 1
	unwanted := bytes.Clone(whole)
	unwanted[ends[0]+frameHeader+40] ^= 1
	length := bytes.Clone(whole)
	length[ends[0]+4] ^= 1
	foreign := newFramer(testKey).start(nil)
	foreign = append(foreign, "of another version"...)
	newFramer(testKey).seal(foreign)
	wanted := []string{long.Addr}
	for i := range 5 {
		if i != 1 {
			wanted = append(wanted, entryOf(i).Addr)
		}
	}
	for name, content := range map[string][]byte{
		"nothing":                           {},
		"whole":                             whole,
		"twice":                             append(bytes.Clone(whole), whole...),
		"larger than most":                  append(append(bytes.Clone(whole), frame...), whole...),
		"torn":                              whole[:ends[3]+7],
		"a wrong bit":                       flipped,
		"a wrong bit in an address":         address,
		"a wrong bit in what is not wanted": unwanted,
		"a wrong length":                    length,
		"garbage before":                    append([]byte("garbage"), whole...),
		"garbage after":                     append(bytes.Clone(whole), frameMark+"\xff\xff\xff\x00"...),
		"another version":                   append(bytes.Clone(whole), foreign...),
	} {
		all := &Log{framer: newFramer(testKey)}
		all.load(content)
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		picked, err := ReadOf(path, testKey, wanted)
		if err != nil {
			t.Fatal(err)
		}
		want := maps.Clone(all.entries)
		delete(want, entryOf(1).Addr)
		dropped := all.Dropped()
		if name == "a wrong bit in what is not wanted" || name == "a wrong bit in an address" {
			dropped = 0 // no entry of it is asked for
		}
		if !maps.Equal(picked.entries, want) || picked.Dropped() != dropped || picked.size != all.size {
			t.Errorf("%s: picked %d entries of %d bytes and lost %d, want %d of %d and %d", name, len(picked.entries), picked.size, picked.Dropped(),
				len(want), all.size, dropped)
		}
	}
}

// Frames come in pieces, and a reader that fails is an error.
func TestFramesStreamed(t *testing.T) {
	whole, _ := writeLog(t, 3)
	lost := errors.New("lost")
	pieces := 0
	_, err := newFramer(testKey).stream(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(whole))), func([]byte) bool { pieces++; return true })
	if !errors.Is(err, iotest.ErrTimeout) || pieces != 0 {
		t.Errorf("%v after %d frames", err, pieces)
	}
	complete, err := newFramer(testKey).stream(iotest.OneByteReader(bytes.NewReader(whole)), func([]byte) bool { pieces++; return true })
	if err != nil || !complete || pieces != 3 {
		t.Errorf("%v after %d frames: %v", complete, pieces, err)
	}
	if complete, err := newFramer(testKey).stream(iotest.ErrReader(lost), nil); complete || !errors.Is(err, lost) {
		t.Errorf("%v, %v", complete, err)
	}
}
