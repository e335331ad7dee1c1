package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// put stores a tree of files, and of links by names that begin with "@".
func put(t *testing.T, store cache.Store, files map[string]string) cache.Output {
	t.Helper()
	var entries []cache.Entry
	for name, content := range files {
		e := cache.Entry{Path: strings.TrimPrefix(name, "@"), Link: content}
		if e.Path == name {
			d, err := cache.PutBytes(t.Context(), store, []byte(content))
			if err != nil {
				t.Fatal(err)
			}
			e.Link, e.Digest = "", d
		}
		entries = append(entries, e)
	}
	tree, err := cache.BuildTree(entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range tree.Blobs {
		if _, err := cache.PutBytes(t.Context(), store, b); err != nil {
			t.Fatal(err)
		}
	}
	return cache.Output{Name: "tree", Digest: tree.Root, Tree: true}
}

// A tree has the files that can be read, as far as there is room, and a description of the others.
func TestReadTree(t *testing.T) {
	store := cache.NewMemory()
	files := map[string]string{"a.py": "x = 1\r\n", "b.bin": "\x00\x01", "c.txt": "\xff", "d.txt": strings.Repeat("d", mostText+1), "@e": "../../etc/passwd", "empty": ""}
	for i := range mostInTree/mostText + 1 {
		files[fmt.Sprintf("f%d", i)] = strings.Repeat("f", mostText-10)
	}
	n := &nodes{source: &Source{Store: store}, trees: map[string]*page.Tree{}}
	got, err := n.tree(t.Context(), put(t, store, files).Digest.String())
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Files {
		if f := &got.Files[i]; len(f.Text) > 100 {
			f.Text = f.Text[:1]
		}
	}
	want := []page.File{{Path: "a.py", Text: "x = 1\r\n"}, {Path: "b.bin", Note: "2 bytes, not text"}, {Path: "c.txt", Note: "1 bytes, not text"},
		{Path: "d.txt", Note: "131073 bytes, too large to show"}, {Path: "e", Note: "a link to ../../etc/passwd"}, {Path: "empty"},
		{Path: "f0", Text: "f"}, {Path: "f1", Text: "f"}, {Path: "f2", Text: "f"}, {Path: "f3", Text: "f"}, {Path: "f4", Note: "131062 bytes, beyond the limit for all files"}}
	if diff := cmp.Diff(want, got.Files); diff != "" || got.More != 0 {
		t.Error(got.More, diff)
	}

	many := map[string]string{}
	for i := range mostInDir + 7 {
		many[fmt.Sprintf("f%04d", i)] = "x"
	}
	if got, err := n.tree(t.Context(), put(t, store, many).Digest.String()); err != nil || len(got.Files) != mostInDir || got.More != 7 {
		t.Errorf("of many files: %+v, %v", got, err)
	}
	if got, err := n.tree(t.Context(), cache.SumBytes([]byte("gone")).String()); got != nil || err != nil {
		t.Errorf("of a tree that is gone: %+v, %v", got, err)
	}
}

// The sources of a checkpoint are the trees below its verdict.
func TestSourcesOfCell(t *testing.T) {
	store := cache.NewMemory()
	first, second, tests := put(t, store, map[string]string{"a": "1"}), put(t, store, map[string]string{"a": "2"}), put(t, store, map[string]string{"t": ""})
	node := func(addr, kind, checkpoint string, deps []string, outputs ...cache.Output) *linked {
		return &linked{graph.Row{Addr: addr, Kind: kind, Labels: []graph.Label{{Name: "checkpoint", Value: checkpoint}}, Answer: graph.Answer{Outputs: outputs, Run: "r1", Seconds: 1}}, deps}
	}
	n := &nodes{source: &Source{Store: store}, linked: map[string]*linked{}}
	for _, l := range []*linked{
		node("submission:p/one/s", "submission", "one", nil, first), node("submission:p/two/s", "submission", "two", nil, second), node("tests:p/one", "tests", "one", nil, tests),
		node("pytest:p/one/s@b.c", "pytest", "one", []string{"submission:p/one/s", "tests:p/one"}),
		node("pytest:p/two/s@b.c", "pytest", "two", []string{"submission:p/two/s", "tests:p/one"}),
		node("aggregate:p/one/s@b.c", "aggregate", "one", []string{"pytest:p/one/s@b.c"}),
		node("aggregate:p/two/s@b.c", "aggregate", "two", []string{"pytest:p/two/s@b.c", "aggregate:p/one/s@b.c"}),
	} {
		n.linked[l.Addr] = l
	}
	cell := &report.Cell{Problem: "p", Solution: "s", Backend: "b.c", Repeat: 1, Checkpoints: []report.Checkpoint{{Name: "one"}, {Name: "two"}, {Name: "three"}}}
	want := []page.Trees{{Submission: first.Digest.String(), Tests: tests.Digest.String()}, {Submission: second.Digest.String()}, {}}
	if diff := cmp.Diff(want, n.sources(cell)); diff != "" {
		t.Error(diff)
	}
}
