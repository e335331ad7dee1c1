package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// hostile is a text that tries to be more than text.
const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[31m]]>-->${x}'\"&lt;"

func ptr[T any](v T) *T { return &v }

// sample returns a page about a run of some cells, with hostile texts wherever one fits.
func sample(cells int) *Page {
	r := &report.Results{Schema: report.Schema, Run: "20260102-030405-000001"}
	for i := range cells {
		c := report.Checkpoint{Name: "one" + hostile, Class: verdict.Judged, Policy: "core-cases", Passed: i%2 == 0, Message: ptr(hostile), DurationMS: 1234.5678,
			Groups: verdict.GroupCounts{verdict.Core: {Passed: 1 - i%2, Total: 1}},
			Tests:  []report.Test{{Test: verdict.Test{ID: "test" + hostile, File: hostile, Group: verdict.Core, Status: verdict.TestFailed}, Message: ptr(hostile)}}}
		r.Cells = append(r.Cells, report.Cell{Problem: fmt.Sprintf("p%d%s", i, hostile), Solution: "s" + hostile, Backend: "local.host", Repeat: 1, Status: verdict.Success,
			Labels: map[string]string{hostile: hostile}, Checkpoints: []report.Checkpoint{c}})
	}
	before := &report.Results{Schema: report.Schema, Run: "20260102-030404-000001", Cells: r.Cells[:cells/2]}
	return &Page{Project: "evals" + hostile, Version: "0.1.0",
		Runs:  []Run{{ID: before.Run, Results: before, Difference: report.Differ(before, r)}, {ID: r.Run, Ended: true, Results: r}},
		Words: func(c report.Checkpoint) []string { return []string{"failed"} },
		Nodes: func(*report.Cell) ([]Node, error) {
			return []Node{{Addr: "pytest:" + hostile, Kind: "pytest", State: "done", Cause: hostile, Files: []string{hostile}, Log: hostile, Fields: [][2]string{{hostile, hostile}}}}, nil
		},
		Sources: func(c *report.Cell) []Trees { return []Trees{{Submission: c.Problem, Tests: "tests"}} },
		Tree: func(id string) (*Tree, error) {
			return &Tree{Files: []File{{Path: hostile, Text: hostile + "\n" + id + "\n"}, {Path: "link" + hostile, Note: "a link to " + hostile}}, More: 3}, nil
		},
		Work: []Work{{Addr: "pytest:" + hostile, Kind: "pytest", Pool: "cpu", State: "done", Start: 0.5, Seconds: 1}}}
}

// written writes a page and reads its files.
func written(t *testing.T, p *Page, name string) (dir, document string, w *Written) {
	t.Helper()
	dir = t.TempDir()
	w, err := p.Write(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(w.File)
	if err != nil {
		t.Fatal(err)
	}
	return dir, string(content), w
}

var dataElement = regexp.MustCompile(`<script type="text/plain" id="data-(\w+)">([A-Za-z0-9+/=]*)</script>`)

// unpack reads the pieces of data of a document.
func unpack(t *testing.T, document string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, m := range dataElement.FindAllStringSubmatch(document, -1) {
		all[m[1]] = decoded(t, m[2])
	}
	return all
}

func decoded(t *testing.T, data string) []byte {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOneFile(t *testing.T) {
	_, document, w := written(t, sample(4), "out.html")
	if w.Data != "" || w.Bytes != int64(len(document)) {
		t.Errorf("%+v, of %d bytes", w, len(document))
	}
	pieces := unpack(t, document)
	var x index
	if err := json.Unmarshal(pieces["index"], &x); err != nil {
		t.Fatal(err)
	}
	if got := len(x.Cells.Repeat); got != 4 || len(x.Cells.From) != 5 || len(x.Checkpoints.Seconds) != 4 || len(x.Past) != 1 || len(x.Differences) != 1 || len(x.Differences[0].Changes) != 2 {
		t.Errorf("%d cells, %+v", got, x)
	}
	if x.Cells.Problem.Values[0] != "p0"+hostile {
		t.Errorf("names are changed: %q", x.Cells.Problem.Values[0])
	}
	var all []details
	if err := json.Unmarshal(pieces[x.Chunks[0].ID], &all); err != nil || len(all) != 4 {
		t.Fatalf("%d cells, %v", len(all), err)
	}
	if got := all[3].Nodes[0].Log; got != hostile {
		t.Errorf("log %q", got)
	}
	var timeline work
	if err := json.Unmarshal(pieces[x.Work], &timeline); err != nil || timeline.Start[0] != 0.5 {
		t.Errorf("%+v, %v", timeline, err)
	}
}

// The document contains untrusted text only in its data and, as text, in its title.
func TestNothingIsMarkup(t *testing.T) {
	_, document, _ := written(t, sample(4), "out.html")
	rest := strings.ReplaceAll(strings.ReplaceAll(document, program, ""), style, "")
	rest = dataElement.ReplaceAllString(rest, "")
	for _, bad := range []string{"<script>alert", "<img", "\u202e", "\x1b", "onerror=alert(1)>"} {
		if strings.Contains(rest, bad) {
			t.Errorf("%q is in the document:\n%s", bad, rest)
		}
	}
	if n := strings.Count(rest, "<script>"); n != 1 {
		t.Errorf("%d scripts:\n%s", n, rest)
	}
	if !strings.Contains(rest, "<title>fevalgraph: evals&lt;/script&gt;") {
		t.Errorf("the title: %s", rest)
	}
}

// The policy allows only scripts and styles in the document, by their hashes.
func TestPolicy(t *testing.T) {
	_, document, _ := written(t, sample(1), "out.html")
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(document)
	if policy == nil {
		t.Fatal("policy not found")
	}
	if strings.Index(document, policy[0]) > strings.Index(document, "<style>") || strings.Contains(policy[1], "unsafe") || strings.Contains(policy[1], "http") {
		t.Errorf("%s", policy[1])
	}
	for element, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
		content := regexp.MustCompile("(?s)<" + element + ">(.*?)</" + element + ">").FindStringSubmatch(document)
		if content == nil || !strings.Contains(policy[1], directive+" '"+hash(content[1])+"'") {
			t.Errorf("%s does not allow the %s", policy[1], element)
		}
	}
	for _, external := range regexp.MustCompile(`(?:src|href)="?(https?:)?//`).FindAllString(document, -1) {
		t.Errorf("%s", external)
	}
}

// The same runs are the same bytes.
func TestDeterministic(t *testing.T) {
	_, first, _ := written(t, sample(4), "out.html")
	_, second, _ := written(t, sample(4), "out.html")
	if first != second {
		t.Error("two documents of one page differ")
	}
}

// random returns incompressible text of a number of bytes.
func random(seed, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(hash(fmt.Sprint(seed, i)))
	}
	return b.String()
}

func TestDirectory(t *testing.T) {
	p := sample(200)
	n := 0
	p.Nodes = func(*report.Cell) ([]Node, error) {
		n++
		return []Node{{Addr: "a", Log: random(n, 60<<10)}}, nil
	}
	dir := t.TempDir()
	stale := filepath.Join(dir, "out-data", strings.Repeat("0", 64)+".js")
	mine := filepath.Join(dir, "out-data", "notes.js")
	for _, path := range []string{stale, mine} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := p.Write(filepath.Join(dir, "out.html"))
	if err != nil {
		t.Fatal(err)
	}
	if w.Data != filepath.Join(dir, "out-data") {
		t.Errorf("the data is in %q", w.Data)
	}
	document, err := os.ReadFile(w.File)
	if err != nil || len(document) > MostInFile || !strings.Contains(string(document), `data-directory="out-data"`) {
		t.Fatalf("a document of %d bytes, %v", len(document), err)
	}
	pieces := unpack(t, string(document))
	if len(pieces) != 1 {
		t.Errorf("%d pieces are in the document, too", len(pieces))
	}
	var x index
	if err := json.Unmarshal(pieces["index"], &x); err != nil {
		t.Fatal(err)
	}
	cells := 0
	for _, c := range x.Chunks {
		script, err := os.ReadFile(filepath.Join(w.Data, c.ID+".js"))
		if err != nil {
			t.Fatal(err)
		}
		call := regexp.MustCompile(`^fevalgraph\("(\w+)","([A-Za-z0-9+/=]*)"\)\n$`).FindStringSubmatch(string(script))
		if call == nil || call[1] != c.ID {
			t.Fatalf("%.100s", script)
		}
		var all []details
		if err := json.Unmarshal(decoded(t, call[2]), &all); err != nil || c.First != cells {
			t.Errorf("cells from %d on, want %d: %v", c.First, cells, err)
		}
		cells += len(all)
	}
	if cells != 200 {
		t.Errorf("%d cells", cells)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("a chunk of an earlier report is left")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("another file is gone: %v", err)
	}

	// A report that fits again needs no directory.
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if w, err = sample(1).Write(w.File); err != nil || w.Data != "" {
		t.Fatalf("%+v, %v", w, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out-data")); err == nil {
		t.Error("the directory of data is left")
	}
}

// Lines of any length are cut in the middle.
// A directory of data that is a link, such as one in a clone, is not followed: nothing is written or removed there.
func TestLinkedDirectory(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	theirs := filepath.Join(elsewhere, strings.Repeat("0", 64)+".js")
	if err := os.WriteFile(theirs, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "out-data")); err != nil {
		t.Fatal(err)
	}
	p := sample(200)
	if _, err := p.Write(filepath.Join(dir, "out.html")); err != nil {
		t.Errorf("a page that needs no directory: %v", err)
	}
	n := 0
	p.Nodes = func(*report.Cell) ([]Node, error) {
		n++
		return []Node{{Addr: "a", Log: random(n, 60<<10)}}, nil
	}
	if _, err := p.Write(filepath.Join(dir, "out.html")); err == nil || !strings.Contains(err.Error(), "out-data is a link") {
		t.Errorf("a page that needs the directory: %v", err)
	}
	entries, err := os.ReadDir(elsewhere)
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(theirs) {
		t.Errorf("%v is in the directory, %v", entries, err)
	}
}

func TestLongTexts(t *testing.T) {
	p := sample(1)
	p.Runs[1].Results.Cells[0].Checkpoints[0].Tests[0].Message = ptr("begin" + strings.Repeat("m", 10<<20) + "end")
	p.Nodes = func(*report.Cell) ([]Node, error) {
		return append([]Node{{Addr: "a", Log: "begin" + strings.Repeat("l", 10<<20) + "end"}}, make([]Node, keptNodes)...), nil
	}
	_, document, w := written(t, p, "out.html")
	if w.Bytes > 1<<20 {
		t.Errorf("%d bytes", w.Bytes)
	}
	pieces := unpack(t, document)
	var x index
	var all []details
	if err := json.Unmarshal(pieces["index"], &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(pieces[x.Chunks[0].ID], &all); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{*all[0].Cell.Checkpoints[0].Tests[0].Message, all[0].Nodes[0].Log} {
		if len(text) > keptLog+100 || !strings.HasPrefix(text, "begin") || !strings.HasSuffix(text, "end") || !strings.Contains(text, "bytes dropped") {
			t.Errorf("%d bytes: %.20s", len(text), text)
		}
	}
	if len(all[0].Nodes) != keptNodes || all[0].More != 1 {
		t.Errorf("%d nodes and %d more", len(all[0].Nodes), all[0].More)
	}
	if got := *p.Runs[1].Results.Cells[0].Checkpoints[0].Tests[0].Message; len(got) < 10<<20 {
		t.Error("the results were changed")
	}
}

// The program stays small: it is in every report.
func TestProgramSize(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(program + style))
	z.Close()
	if b.Len() == 0 || b.Len() > 80<<10 {
		t.Errorf("%d bytes, compressed", b.Len())
	}
}
