package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// numbered returns a text whose lines are their numbers.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

func TestExcerpts(t *testing.T) {
	answer := &Tree{Files: []File{{Path: "helpers.py", Text: numbered(40)}, {Path: "src/kv.py", Text: numbered(40)}, {Path: "kv.py", Text: numbered(3)}, {Path: "data.bin", Note: "no text"}}}
	tests := &Tree{Files: []File{{Path: "helpers.py", Text: numbered(20)}, {Path: "test_kv.py", Text: numbered(20)}}}
	for _, try := range []struct {
		name, message string
		want          []string
	}{
		{"pytest", "E   assert 1 == 2\n\ntests/test_kv.py:9: AssertionError", []string{"test tests/test_kv.py:9 4-14"}},
		{"a traceback that was printed", "File \"/w/x/src/kv.py\", line 30, in <module>\ntests/test_kv.py:2: E", []string{"test tests/test_kv.py:2 1-7", "submission src/kv.py:30 25-35"}},
		{"the longer path", "at /w/src/kv.py:7", []string{"submission src/kv.py:7 2-12"}},
		{"a file of both", "tests/helpers.py:3: in run\nhelpers.py:5: in run", []string{"test tests/helpers.py:3 1-8", "submission helpers.py:5 1-10"}},
		{"the last ones", "src/kv.py:1: a\nsrc/kv.py:2: b\nsrc/kv.py:3: c\nsrc/kv.py:3: c", []string{"submission src/kv.py:3 1-8", "submission src/kv.py:2 1-7"}},
		{"compilers and other systems", `C:\w\src\kv.py:4:12: error`, []string{"submission src/kv.py:4 1-9"}},
		{"no such line", "kv.py:4: a\nkv.py:0: b\nkv.py:9999999: c\ndata.bin:1: d\nother.py:1: e\nxkv.py:1: f", nil},
		{"nothing", "12:30: it is late", nil},
	} {
		var got []string
		for _, e := range excerptsOf(try.message, "tests/test_kv.py", answer, tests) {
			if e.Lines[0] != fmt.Sprint(e.First) {
				t.Errorf("%s: line %d is %q", try.name, e.First, e.Lines[0])
			}
			got = append(got, fmt.Sprintf("%s %s:%d %d-%d", map[bool]string{true: "test", false: "submission"}[e.Tests], e.Path, e.At, e.First, e.First+len(e.Lines)-1))
		}
		if !slices.Equal(got, try.want) {
			t.Errorf("%s: %q, want %q", try.name, got, try.want)
		}
	}
}

// A page has the submissions of cells that did not pass first, each once, and no more than there is room for.
func TestTreesHaveRoom(t *testing.T) {
	p := sample(0)
	last := p.Runs[1].Results
	for i := range 30 {
		last.Cells = append(last.Cells, report.Cell{Problem: "p", Solution: fmt.Sprintf("s%02d", i), Backend: "local.host", Repeat: 1, Status: verdict.Success,
			Checkpoints: []report.Checkpoint{{Name: "one", Passed: i < 20, Class: verdict.Judged, Policy: "core-cases"}}})
	}
	reads := map[string]int{}
	p.Sources = func(c *report.Cell) []Trees { return []Trees{{Submission: "tree of " + c.Solution}} }
	p.Tree = func(id string) (*Tree, error) {
		reads[id]++
		if id == "tree of s00" || id == "tree of s29" { // is gone
			return nil, nil
		}
		return &Tree{Files: []File{{Path: "a", Text: strings.Repeat("x", MostSources/12)}}}, nil
	}
	_, document, _ := written(t, p, "out.html")
	pieces := unpack(t, document)
	var x index
	if err := json.Unmarshal(pieces["index"], &x); err != nil {
		t.Fatal(err)
	}
	var places []int
	for _, c := range x.Chunks {
		var all []details
		if err := json.Unmarshal(pieces[c.ID], &all); err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			places = append(places, append(d.Trees, treeUnknown)[0])
		}
	}
	want := []int{-1, 9, 10}
	for range 17 {
		want = append(want, treeNoRoom)
	}
	want = append(want, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1)
	if !slices.Equal(places, want) {
		t.Errorf("places %v, want %v", places, want)
	}
	trees := 0
	for _, c := range x.Trees {
		var all []Tree
		if err := json.Unmarshal(pieces[c.ID], &all); err != nil || c.First != trees {
			t.Errorf("trees from %d on, want %d: %v", c.First, trees, err)
		}
		trees += len(all)
	}
	if trees != 11 {
		t.Errorf("%d trees", trees)
	}
	for id, n := range reads {
		if n > 1 {
			t.Errorf("%s was read %d times", id, n)
		}
	}
}
