package event

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// recorded makes the record of a run with every kind of file.
func recorded(t *testing.T) (state string) {
	t.Helper()
	state = t.TempDir()
	r, err := NewRecorder(Records{Dir: state}, "run1")
	if err != nil {
		t.Fatal(err)
	}
	r.Emit(RunStart{Type: "run.start", Run: "run1"})
	r.SaveLog("a", 1, []byte("first\n"))
	r.SaveLog("a", 2, []byte("what it printed\n"))
	r.Emit(NodeDone{Type: "node.done", Addr: "a", State: Broken})
	if err := errors.Join(r.SaveManifest([]string{"ab"}, nil), r.Close()); err != nil {
		t.Fatal(err)
	}
	return state
}

// readRecord reads all data of a record.
func readRecord(state, id string) error {
	run, err := FindRun(Records{Dir: state}, id)
	if err != nil {
		return err
	}
	err = run.Each(func(Event) bool { return true })
	_, rerr := run.Manifest()
	_, lerr := run.Log("a")
	if errors.Is(lerr, fs.ErrNotExist) {
		lerr = nil
	}
	return errors.Join(err, rerr, lerr)
}

// TestDamagedRecord: every reader of a file of a record reports any flipped bit in it.
func TestDamagedRecord(t *testing.T) {
	state := recorded(t)
	for _, id := range []string{"run1"} {
		if err := readRecord(state, id); err != nil {
			t.Fatalf("%s as it was written: %v", id, err)
		}
		dir := filepath.Join(state, runsDir, id)
		flipped := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i := range content {
				bad := bytes.Clone(content)
				bad[i] ^= 1 << (i % 8)
				if err := os.WriteFile(path, bad, 0o644); err != nil {
					return err
				}
				flipped++
				var damaged *DamagedError
				var foreign *ForeignError // the invalid part of a proof is unknown
				if err := readRecord(state, id); (!errors.As(err, &damaged) || damaged.Run != id) && !(filepath.Base(path) == SumsFile && i >= len(content)-65 && errors.As(err, &foreign)) {
					t.Errorf("%s, byte %d of %q: %v", path, i, content, err)
				}
			}
			for _, bad := range [][]byte{content[:len(content)-1], append(bytes.Clone(content), '\n')} {
				if err := os.WriteFile(path, bad, 0o644); err != nil {
					return err
				}
				if err := readRecord(state, id); err == nil {
					t.Errorf("%s of %d bytes instead of %d: no error", path, len(bad), len(content))
				}
			}
			return os.WriteFile(path, content, 0o644)
		})
		if err != nil || flipped < 50 {
			t.Errorf("%d bytes, %v", flipped, err)
		}
	}
}

func TestWithoutSums(t *testing.T) {
	state := recorded(t)
	if err := os.Remove(filepath.Join(state, runsDir, "run1", SumsFile)); err != nil {
		t.Fatal(err)
	}
	run := OpenRun(Records{Dir: state}, "run1")
	if err := run.Each(func(Event) bool { return true }); err != nil {
		t.Errorf("the events of a run that did not end: %v", err)
	}
	if _, err := run.Manifest(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unproven results: %v", err)
	}
}

// TestForeignRecord tests that a record that another key proves, or that belongs to another run, is ignored entirely.
func TestForeignRecord(t *testing.T) {
	state, said := recorded(t), 0
	mine := Records{Dir: state, Key: proof.Key("mine"), Foreign: func(string) { said++ }}
	r, err := NewRecorder(mine, "run0")
	if err != nil {
		t.Fatal(err)
	}
	r.Emit(RunStart{Type: "run.start", Run: "run0"})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(state, runsDir, "run2"), os.DirFS(filepath.Join(state, runsDir, "run0"))); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"run1", "run2"} {
		said = 0
		var foreign *ForeignError
		run := OpenRun(mine, id)
		if err := run.Each(func(e Event) bool { t.Errorf("%s has %v", id, e); return true }); !errors.As(err, &foreign) || foreign.Run != id || said != 1 {
			t.Errorf("events: %v, reported %d times", err, said)
		}
		if _, err := run.Manifest(); !errors.As(err, &foreign) {
			t.Errorf("manifest: %v", err)
		}
		if _, err := run.Log("a"); !errors.As(err, &foreign) {
			t.Errorf("log: %v", err)
		}
	}
	if err := os.WriteFile(LatestFile(state), []byte("run1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if run, err := FindRun(mine, "latest"); err != nil || run.ID != "run0" {
		t.Errorf("the latest is %v, %v", run, err)
	}
}

// TestHugeRecord tests that files of a record that are larger than memory are not read.
func TestHugeRecord(t *testing.T) {
	for _, file := range []string{SumsFile, ManifestFile, EventsFile, "../../" + latestFile} {
		state := recorded(t)
		size := int64(1 << 40)
		if file == EventsFile { // an endless line; readers stop at largestUnproven
			size = int64(longtest.Size(largestEventLine+1, 1<<40))
		}
		if err := os.Truncate(filepath.Join(state, runsDir, "run1", file), size); err != nil {
			t.Skip(err)
		}
		if file == EventsFile {
			if err := os.Remove(filepath.Join(state, runsDir, "run1", SumsFile)); err != nil {
				t.Fatal(err)
			}
		}
		_ = readRecord(state, "run1") // returns, and does not end the process
		if _, err := FindRun(Records{Dir: state}, "latest"); err != nil && file != SumsFile {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Sums have the format of sha256sum.
func TestSumsForPeople(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("there is no sha256sum")
	}
	cmd := exec.Command("sha256sum", "--check", "--strict", SumsFile)
	cmd.Dir = filepath.Join(recorded(t), runsDir, "run1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func FuzzSums(f *testing.F) {
	f.Add(sums{EventsFile: {1}, ManifestFile: {2}, logsDir + "/" + logName("a"): {3}}.encode(nil, "run1"))
	f.Add([]byte("00  events.jsonl\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := decodeSums(nil, "run1", text)
		if err == nil && !bytes.Equal(s.encode(nil, "run1"), text) {
			t.Errorf("%q is read and not written", text)
		}
	})
}
