package event

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// recorded makes the record of a run with every kind of file.
func recorded(t *testing.T) (state string) {
	t.Helper()
	state = t.TempDir()
	r, err := NewRecorder(state, "run1")
	if err != nil {
		t.Fatal(err)
	}
	r.Emit(RunStart{Type: "run.start", Run: "run1"})
	r.SaveLog("a", 1, []byte("first\n"))
	r.SaveLog("a", 2, []byte("what it printed\n"))
	r.Emit(NodeDone{Type: "node.done", Addr: "a", State: Broken})
	if err := errors.Join(r.SaveManifest([]string{"ab"}), r.Close()); err != nil {
		t.Fatal(err)
	}
	return state
}

// readAll reads all that a record holds.
func readAll(state, id string) error {
	run, err := FindRun(state, id)
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

// TestDamagedRecord: one wrong bit in any byte of any file of a record is reported by
// whatever reads the file.
func TestDamagedRecord(t *testing.T) {
	state := recorded(t)
	for _, id := range []string{"run1"} {
		if err := readAll(state, id); err != nil {
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
				if err := readAll(state, id); !errors.As(err, &damaged) || damaged.Run != id {
					t.Errorf("%s, byte %d of %q: %v", path, i, content, err)
				}
			}
			for _, bad := range [][]byte{content[:len(content)-1], append(bytes.Clone(content), '\n')} {
				if err := os.WriteFile(path, bad, 0o644); err != nil {
					return err
				}
				if err := readAll(state, id); err == nil {
					t.Errorf("%s of %d bytes in place of %d: no error", path, len(bad), len(content))
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
	if err := readAll(state, "run1"); err != nil {
		t.Errorf("a run that did not end: %v", err)
	}
}

// Sums are what a common tool checks.
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
	f.Add(sums{EventsFile: {1}, ManifestFile: {2}, logsDir + "/" + logName("a"): {3}}.encode())
	f.Add([]byte("00  events.jsonl\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := decodeSums(text)
		if err == nil && !bytes.Equal(s.encode(), text) {
			t.Errorf("%q is read and not written", text)
		}
	})
}
