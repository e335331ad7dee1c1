package partition

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"reflect"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

func sampleLast() *Last {
	return &Last{Form: lastForm, Files: []LastFile{{Problem: "p", First: "s", File: Name{1}, Store: "store"}},
		Nodes: []graph.Last{{Addr: "aggregate:nightly", Answer: sampleRow().Answer, Store: "store", Broken: "no space left", BrokenKey: cache.Key{2}}}}
}

// TestLastForm: later versions of the program read these files, so a change needs another lastForm.
func TestLastForm(t *testing.T) {
	const want = "92f1f77a9e1cc441"
	content, err := frozen.Append(nil, sampleLast())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("the form of last answers changed to %s: raise lastForm, then replace %s here", got, want)
	}
}

// TestLast: a file of last answers overrides the rows of the files that it names, except for mere expectations. An
// unreadable file of rows has none.
func TestLast(t *testing.T) {
	dir := t.TempDir()
	s := Store{dir}
	row, other := sampleRow(), sampleRow()
	other.Addr = "score:p/s"
	name, err := s.Put(nil, []graph.Row{row, other}, nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := graph.Last{Addr: row.Addr, Answer: graph.Answer{Key: cache.Key{9}}, Store: "b", Broken: "no space left"}
	l := &Last{Files: []LastFile{{Problem: "p", File: name, Store: "a"}, {Problem: "p", File: Name{7}}, {Problem: "q", File: name}}, Nodes: []graph.Last{broken}}
	l.Expect(map[string]float64{other.Addr: 5, row.Addr: 6, "new": 7})
	if err := l.Write(dir, proof.Place{}); err != nil {
		t.Fatal(err)
	}
	got := ReadLast(dir, proof.Place{}).ByAddress(s, func(f LastFile) bool { return f.Problem == "p" })
	want := Lasts{
		row.Addr:   &broken,
		other.Addr: {Addr: other.Addr, Answer: other.Answer, Store: "a"},
		"new":      {Addr: "new", Answer: graph.Answer{Seconds: 7}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	content, err := os.ReadFile(lastPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-1] ^= 1
	if err := os.WriteFile(lastPath(dir), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ReadLast(dir, proof.Place{}); len(got.Files)+len(got.Nodes) > 0 {
		t.Errorf("with a wrong bit it was read as %+v", got)
	}
}

func FuzzLast(f *testing.F) {
	content, err := frozen.Append(nil, sampleLast())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		if err := (proof.Place{}).Write(lastPath(dir), 0o600, content); err != nil {
			t.Fatal(err)
		}
		ReadLast(dir, proof.Place{}).ByAddress(Store{dir}, func(LastFile) bool { return true })
	})
}
