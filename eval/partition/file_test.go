package partition

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/report"
)

func sampleFacts() *Facts {
	one, score := cache.SumBytes([]byte("one")), 1.5
	return &Facts{Run: "run", Used: 1, Snapshot: []byte("snapshot"), Own: 2, Common: []CommonRef{{Addr: "tests:p", Outputs: one.Hash}}, Backends: []string{"local.host"},
		Summary: []report.CellRow{{Problem: "p", Solution: "s", Backend: "local.host", Repeat: 1, Checkpoints: 1, Outcome: "passed", Scores: [2]*float64{&score, nil}}}}
}

func sampleRow() graph.Row {
	return graph.Row{Addr: "parse:p/s", Kind: "parse", Labels: []graph.Label{{Name: "problem", Value: "p"}}, Deps: []int32{0},
		Answer: graph.Answer{Key: cache.Key{1}, Outputs: []cache.Output{{Name: "result", Digest: cache.SumBytes([]byte("one"))}}, Message: "m", Seconds: 2, Run: "run"}}
}

// TestPartitionFormat: rows of past runs are read by later versions of the program, so a
// change of their form needs another fileMagic.
func TestPartitionFormat(t *testing.T) {
	const want = "a01453a306171055"
	head, err := frozen.Append(nil, sampleFacts())
	if err != nil {
		t.Fatal(err)
	}
	all, err := frozen.Append(head, &[]graph.Row{sampleRow()})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(append([]byte(fileMagic), all...))
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("the form of partition files changed to %s: raise fileMagic, then replace %s here", got, want)
	}
}

// TestDamagedPartition: a wrong bit anywhere in a file is found before any of it is
// believed, and a file that was cut off, too.
func TestDamagedPartition(t *testing.T) {
	s := Store{t.TempDir()}
	name, err := s.put([]byte("facts"), []byte("rows"), []byte("results"))
	if err != nil {
		t.Fatal(err)
	}
	for section, want := range []string{"facts", "rows", "results"} {
		if got, err := s.read(name, section); err != nil || string(got) != want {
			t.Errorf("section %d is %q: %v", section, got, err)
		}
	}
	if facts, err := s.verifiedFacts(name); err != nil || string(facts) != "facts" {
		t.Errorf("%q, %v", facts, err)
	}
	whole, err := os.ReadFile(s.path(name))
	if err != nil {
		t.Fatal(err)
	}
	refused := func(content []byte) bool {
		if err := os.WriteFile(s.path(name), content, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := s.verifiedFacts(name)
		return errors.Is(err, ErrDamaged)
	}
	for i := range len(whole) * 8 {
		bad := bytes.Clone(whole)
		bad[i/8] ^= 1 << (i % 8)
		if !refused(bad) {
			t.Fatalf("no error after a flip of bit %d", i)
		}
	}
	for n := range whole {
		if !refused(whole[:n]) {
			t.Fatalf("%d of %d bytes are taken for all", n, len(whole))
		}
	}
}

func FuzzPartition(f *testing.F) {
	s := Store{f.TempDir()}
	name, err := s.put([]byte("facts"), []byte("rows"), []byte("results"))
	if err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(s.path(name))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, content []byte) {
		s := Store{t.TempDir()}
		if err := os.WriteFile(s.path(name), content, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.verifiedFacts(name); err == nil && !bytes.HasPrefix(content, whole) {
			t.Error("another file has the name")
		}
		for section := range sections {
			_, _ = s.read(name, section)
		}
	})
}

func FuzzIndex(f *testing.F) {
	i := &Index{Indexed: Indexed{Salt: NewSalt(), Parts: []Ref{{Problem: "p", First: "s"}}}}
	state := f.TempDir()
	if err := os.MkdirAll(StoreIn(state).Dir, 0o755); err != nil {
		f.Fatal(err)
	}
	i.BaseFiles = Snapshot([]cache.Sighting{cache.Probe{Path: "/nowhere"}.Sight().Before(time.Now())})
	if err := i.Write(state, proof.Place{}); err != nil {
		f.Fatal(err)
	}
	if got := ReadIndex(state, proof.Place{}); got == nil || len(got.Parts) != 1 {
		f.Fatalf("the index is read back as %+v", got)
	}
	content, err := os.ReadFile(indexPath(state))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		state := t.TempDir()
		if err := os.MkdirAll(StoreIn(state).Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(indexPath(state), content, 0o600); err != nil {
			t.Fatal(err)
		}
		ReadIndex(state, proof.Place{})
	})
}
