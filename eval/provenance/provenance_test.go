package provenance

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// step is a task with a fixed output.
type step struct{ name, output, content string }

func (s step) Describe(_ context.Context, m *graph.Manifest) error {
	m.String("step", s.name)
	return nil
}

func (s step) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	d, err := cache.PutBytes(ctx, w.Store, []byte(s.content))
	return graph.Outcome{Outputs: []cache.Output{{Name: s.output, Digest: d}}}, err
}

// project returns a store after a run of three solutions, the last of which could not be judged, and the inputs of
// Collect.
func project(t *testing.T) (cache.Store, []Answered, *report.Results) {
	t.Helper()
	store := cache.NewMemory()
	g := graph.New()
	tests := g.Add(graph.Node{Addr: "tests:p/one", Kind: "tests", Task: step{"tests", "tree", "assert add(1, 2) == 3"}})
	results := &report.Results{}
	var targets []graph.ID
	for _, solution := range []string{"bad", "good"} {
		v := &verdict.Checkpoint{Name: "one", Passed: solution == "good", Policy: "core-cases", Class: verdict.Judged, Collected: 1,
			Tests: []verdict.Test{{ID: "test_add", File: "test_one.py", Group: verdict.Core, Status: verdict.TestPassed}}}
		blob, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		cell := report.Cell{Problem: "p", Solution: solution, Backend: "local.host", Repeat: 1, Status: verdict.Success,
			Checkpoints: []report.Checkpoint{report.NewCheckpoint(v, &verdict.Measurements{})}}
		results.Cells = append(results.Cells, cell)
		name := solution + "@local.host"
		submission := g.Add(graph.Node{Addr: "submission:p/one/" + solution, Kind: "submission", Task: step{"submission " + solution, "tree", "def add(): " + solution}})
		pytest := g.Add(graph.Node{Addr: "pytest:p/one/" + name, Kind: "pytest", Task: step{"pytest", "log", "1 test, " + solution},
			Deps: []graph.Dep{{On: tests, As: "tests", Outputs: []string{"tree"}}, {On: submission, As: "submission", Outputs: []string{"tree"}}}})
		targets = append(targets, g.Add(graph.Node{Addr: "aggregate:p/one/" + name, Kind: "aggregate", Task: step{"aggregate", "result", string(blob)},
			Deps: []graph.Dep{{On: pytest, As: "log", Outputs: []string{"log"}}}}))
	}
	results.Cells = append(results.Cells, report.Cell{Problem: "p", Solution: "lost", Backend: "local.host", Repeat: 1, Status: verdict.Broken,
		Checkpoints: []report.Checkpoint{{Name: "one", Class: verdict.NotJudged}}})
	r, err := g.Execute(t.Context(), targets, graph.Options{Store: store, Locker: store, Run: "run", Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var answered []Answered
	for _, id := range g.Closure(targets) {
		answered = append(answered, Answered{g.Node(id).Addr, r.Status(id).Key})
	}
	return store, answered, results
}

func key(t *testing.T) remote.PrivateKey {
	t.Helper()
	k, err := remote.GenerateKey("lab")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// bundle writes a bundle and returns its file and entries.
func bundle(t *testing.T, signer dsse.Signer, withhold ...string) (string, *Entries) {
	t.Helper()
	store, answered, results := project(t)
	e, err := Collect(t.Context(), store, answered, results)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, store, signer, e, withhold...), e
}

func write(t *testing.T, store cache.Store, signer dsse.Signer, e *Entries, withhold ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.bundle")
	var content bytes.Buffer
	if _, err := Write(t.Context(), &content, store, signer, About{Run: "run", Version: "1.0.0", Withheld: withhold}, e); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func check(t *testing.T, file string, keys ...dsse.Verifier) *Checked {
	t.Helper()
	c, err := Check(t.Context(), file, keys)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBundleHoldsWhatVerdictsRestOn(t *testing.T) {
	k := key(t)
	file, e := bundle(t, k)
	if len(e.Nodes) != 7 || len(e.Verdicts) != 3 {
		t.Fatalf("%d nodes and %d verdicts, want 7 and 3", len(e.Nodes), len(e.Verdicts))
	}
	c := check(t, file, key(t).PublicKey, k.PublicKey)
	if len(c.Findings) > 0 || !c.Signed || c.Proven != 2 || c.Unjudged != 1 || c.Run != "run" || c.Version != "1.0.0" {
		t.Errorf("%+v", c)
	}
	again, _ := bundle(t, k)
	one, _ := os.ReadFile(file)
	two, _ := os.ReadFile(again)
	if !bytes.Equal(one, two) {
		t.Error("two bundles of equal runs differ")
	}
}

func TestBundleIsNotSignedByOthers(t *testing.T) {
	file, _ := bundle(t, key(t))
	for _, keys := range [][]dsse.Verifier{nil, {key(t).PublicKey}} {
		if c := check(t, file, keys...); c.Signed || len(c.Findings) != 1 || c.Findings[0].What != "signature" {
			t.Errorf("%+v", c.Findings)
		}
	}
}

func TestBundleWithholds(t *testing.T) {
	k := key(t)
	for _, test := range []struct {
		withhold string
		has      []string
		not      []string
		proven   int
	}{
		{"", []string{"test_add", "1 test, good"}, []string{"assert add", "def add"}, 2},
		{"logs", []string{"test_add"}, []string{"1 test, good", "assert add", "def add"}, 2},
		{"tests", []string{"core-cases"}, []string{"test_add", "test_one", "1 test, good", "assert add", "def add"}, 0},
	} {
		t.Run(test.withhold, func(t *testing.T) {
			var withhold []string
			if test.withhold != "" {
				withhold = append(withhold, test.withhold)
			}
			file, _ := bundle(t, k, withhold...)
			if c := check(t, file, k.PublicKey); len(c.Findings) > 0 || c.Proven != test.proven {
				t.Errorf("%d proven, %+v", c.Proven, c.Findings)
			}
			var all strings.Builder
			for _, entry := range read(t, file) {
				all.Write(entry.content)
			}
			for _, text := range test.has {
				if !strings.Contains(all.String(), text) {
					t.Errorf("it lacks %q", text)
				}
			}
			for _, text := range test.not {
				if strings.Contains(all.String(), text) {
					t.Errorf("it has %q", text)
				}
			}
		})
	}
}

// entry is an entry of an archive.
type entry struct {
	name    string
	content []byte
}

func read(t *testing.T, file string) (all []entry) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for archive := tar.NewReader(plain); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return all
		}
		content, readErr := io.ReadAll(archive)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{h.Name, content})
	}
}

func rewrite(t *testing.T, file string, all []entry) {
	t.Helper()
	var b bytes.Buffer
	compressor, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(compressor)
	for _, e := range all {
		if err := archive.WriteHeader(&tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), compressor.Close(), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// Any change to a signed bundle is found and located.
func TestTampering(t *testing.T) {
	k := key(t)
	lines := func(change func(lines []string) []string) func(*testing.T, []entry) []entry {
		return func(t *testing.T, all []entry) []entry {
			i := slices.IndexFunc(all, func(e entry) bool { return e.name == "extra/entries" })
			was := slices.Collect(strings.Lines(string(all[i].content)))
			all[i].content = []byte(strings.Join(change(slices.Clone(was)), ""))
			if string(all[i].content) == strings.Join(was, "") {
				t.Fatal("unchanged")
			}
			return all
		}
	}
	inLine := func(at int, old, new string) func(*testing.T, []entry) []entry {
		return lines(func(lines []string) []string {
			lines[at] = strings.Replace(lines[at], old, new, 1)
			return lines
		})
	}
	blob := func(with string, change func([]byte) []byte) func(*testing.T, []entry) []entry {
		return func(t *testing.T, all []entry) []entry {
			for i := range all {
				if strings.HasPrefix(all[i].name, "cas/") && bytes.Contains(all[i].content, []byte(with)) {
					if all[i].content = change(all[i].content); all[i].content == nil {
						return slices.Delete(all, i, i+1)
					}
					return all
				}
			}
			t.Fatalf("no blob has %q", with)
			return nil
		}
	}
	replaced := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
	}
	gone := func([]byte) []byte { return nil }
	for _, test := range []struct {
		name   string
		change func(*testing.T, []entry) []entry
		want   []string // sorts of findings
	}{
		{"verdict", inLine(7, `"passed":false`, `"passed":true`), []string{"entries", "verdict"}},
		{"class", inLine(9, `"class":"broken"`, `"class":"judged"`), []string{"entries", "verdict"}},
		{"name of a cell", inLine(8, `"solution":"good"`, `"solution":"best"`), []string{"entries"}},
		{"result of a verdict", inLine(7, `"result":"`, `"result":"0`), nil},
		{"log", blob("1 test, bad", replaced("bad", "fed")), []string{"log"}},
		{"log is gone", blob("1 test, bad", gone), []string{"log"}},
		{"result", blob(`"passed":false`, replaced("false", "true ")), []string{"result", "verdict"}},
		{"result is gone", blob(`"passed":false`, gone), []string{"result", "verdict"}},
		{"manifest", blob("pytest", replaced("step", "stop")), []string{"manifest"}},
		{"manifest is gone", blob("pytest", gone), []string{"manifest"}},
		{"run of a node", inLine(3, `"run":"run"`, `"run":"ran"`), []string{"entries"}},
		{"order of verdicts", lines(func(l []string) []string { l[7], l[8] = l[8], l[7]; return l }), []string{"entries"}},
		{"order of nodes", lines(func(l []string) []string { l[0], l[1] = l[1], l[0]; return l }), nil},
		{"missing cell", lines(func(l []string) []string { return slices.Delete(l, 7, 8) }), []string{"entries", "entries"}},
		{"missing last cell", lines(func(l []string) []string { return l[:len(l)-1] }), []string{"entries", "entries"}},
		{"cell twice", lines(func(l []string) []string { return append(l, l[7]) }), nil},
		{"another field", inLine(8, `{"verdict":{`, `{"verdict":{"x":1,`), nil},
		{"entries twice", func(_ *testing.T, all []entry) []entry { return append(all, all[len(all)-2]) }, nil},
		{"no statement", func(_ *testing.T, all []entry) []entry { return all[:len(all)-1] }, nil},
		{"no signature", func(_ *testing.T, all []entry) []entry {
			last := &all[len(all)-1]
			last.content = []byte(strings.Replace(string(last.content), `"sig":"`, `"sig":"A`, 1))
			return all
		}, []string{"signature"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file, _ := bundle(t, k)
			rewrite(t, file, test.change(t, read(t, file)))
			c, err := Check(t.Context(), file, []dsse.Verifier{k.PublicKey})
			if test.want == nil {
				if !errors.Is(err, pack.ErrNoArchive) {
					t.Fatalf("%v, %+v", err, c)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var sorts []string
			for _, f := range c.Findings {
				sorts = append(sorts, f.What)
			}
			for _, want := range test.want {
				if !slices.Contains(sorts, want) {
					t.Errorf("findings are %+v, want %s", c.Findings, want)
				}
			}
		})
	}
}

// A signer who signs what does not hold together is found out, too.
func TestSignedContradictions(t *testing.T) {
	k := key(t)
	node := func(e *Entries, kind string) *Node {
		i := slices.IndexFunc(e.Nodes, func(n Node) bool { return n.Kind == kind })
		return &e.Nodes[i]
	}
	for _, test := range []struct {
		name   string
		change func(*Entries)
		want   string
	}{
		{"better verdict", func(e *Entries) { e.Verdicts[0].Verdict.Passed = true }, "verdict p/one/bad@local.host: it differs from its result, failed (judged)"},
		{"result of another", func(e *Entries) {
			e.Verdicts[0].Result, e.Verdicts[0].Verdict = e.Verdicts[1].Result, e.Verdicts[1].Verdict
		}, "did not produce the result"},
		{"verdict without a node", func(e *Entries) { e.Verdicts[0].Node, e.Verdicts[0].Result = nil, nil }, "verdict p/one/bad@local.host: nothing proves it"},
		{"node of another kind", func(e *Entries) { node(e, "submission").Kind = "tests" }, "it is of a node of kind submission, and not tests"},
		{"other output", func(e *Entries) { node(e, "submission").Outputs[0].Digest = cache.SumBytes([]byte("better")) }, "is not an output of its inputs"},
		{"node that rests on itself", func(e *Entries) {
			pytest := node(e, "pytest")
			pytest.Outputs = append(pytest.Outputs, node(e, "submission").Outputs...)
			pytest.Inputs = append(pytest.Inputs, pytest.Key)
		}, "it depends on itself"},
		{"input left out", func(e *Entries) { node(e, "pytest").Inputs = node(e, "pytest").Inputs[:1] }, "is not an output of its inputs"},
		{"node left out with its edges", func(e *Entries) {
			gone := node(e, "tests").Key
			e.Nodes = slices.DeleteFunc(e.Nodes, func(n Node) bool { return n.Key == gone })
			for i := range e.Nodes {
				e.Nodes[i].Inputs = slices.DeleteFunc(e.Nodes[i].Inputs, func(k cache.Key) bool { return k == gone })
			}
		}, "is not an output of its inputs"},
		{"node left out", func(e *Entries) {
			e.Nodes = slices.DeleteFunc(e.Nodes, func(n Node) bool { return n.Kind == "tests" })
		}, "whose output it used, is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			store, answered, results := project(t)
			e, err := Collect(t.Context(), store, answered, results)
			if err != nil {
				t.Fatal(err)
			}
			test.change(e)
			c := check(t, write(t, store, k, e), k.PublicKey)
			var all strings.Builder
			for _, f := range c.Findings {
				fmt.Fprintf(&all, "%s %s: %s\n", f.What, f.Name, f.Message)
			}
			if !c.Signed || !strings.Contains(all.String(), test.want) || c.Proven == 2 {
				t.Errorf("%d proven, findings:\n%swant %s", c.Proven, all.String(), test.want)
			}
		})
	}
}

// A signature on a summary that the entries do not bear out is worth nothing.
func TestSignedSummary(t *testing.T) {
	k := key(t)
	file, e := bundle(t, k)
	all := read(t, file)
	statement := newStatement(About{Run: "run", Version: "1.0.0"}, e, check(t, file, k.PublicKey).Digest)
	if statement.Predicate.Result != "FAILED" {
		t.Fatal(statement.Predicate.Result)
	}
	statement.Predicate.Result, statement.Predicate.Passed, statement.Predicate.Failed = "PASSED", append(statement.Predicate.Passed, statement.Predicate.Failed...), []string{}
	content, err := statement.sign(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(e entry) bool { return e.name == "extra/statement" })
	all[i].content = content
	rewrite(t, file, all)
	if c := check(t, file, k.PublicKey); !c.Signed || len(c.Findings) != 1 || !strings.Contains(c.Findings[0].Message, "signed as PASSED") {
		t.Errorf("%+v", c)
	}
}

// A verdict whose grading node has no answer differs from a verdict that is missing from the store.
func TestUnansweredGrader(t *testing.T) {
	k := key(t)
	store, answered, results := project(t)
	answered = append(answered, Answered{Addr: "score:p/one/lost@local.host"}, Answered{Addr: "aggregate:p/one/lost@local.host", Key: answered[0].Key})
	e, err := Collect(t.Context(), store, answered, results)
	if err != nil {
		t.Fatal(err)
	}
	if c := check(t, write(t, store, k, e), k.PublicKey); c.Unjudged != 1 || c.Proven != 2 || len(c.Findings) > 0 {
		t.Errorf("%+v", c)
	}
}

func TestNoBundle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, []byte("a text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(t.Context(), file, nil); !errors.Is(err, pack.ErrNoArchive) {
		t.Errorf("%v", err)
	}
	var b bytes.Buffer
	if _, err := pack.Write(t.Context(), &b, cache.NewMemory(), nil, pack.Contents{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(t.Context(), file, nil); !errors.Is(err, pack.ErrNoArchive) || !strings.Contains(err.Error(), "a pack, not a bundle") {
		t.Errorf("%v", err)
	}
}

// Nodes of different cells make equal outputs, such as an empty log, and a program can print its input: each
// node depends on an earlier node, of the same cell if that made the same output.
func TestEqualOutputs(t *testing.T) {
	store := cache.NewMemory()
	g := graph.New()
	v, err := json.Marshal(&verdict.Checkpoint{Policy: "core-cases", Class: verdict.Judged})
	if err != nil {
		t.Fatal(err)
	}
	results := &report.Results{}
	var targets []graph.ID
	printed := cache.SumBytes([]byte("print")).String()
	for solution, source := range map[string]string{"a": printed, "b": "prints, too"} {
		// A source is a text in the manifest.
		submission := g.Add(graph.Node{Addr: "submission:p/" + solution, Kind: "submission", Task: step{source, "tree", "tree " + solution}})
		command := g.Add(graph.Node{Addr: "command:p/" + solution + "@local.host", Kind: "command", Task: step{"command", "stdout", "print"},
			Deps: []graph.Dep{{On: submission, As: "submission", Outputs: []string{"tree"}}}})
		targets = append(targets, g.Add(graph.Node{Addr: "score:p/" + solution + "@local.host", Kind: "score", Task: step{"score " + solution, "result", string(v)},
			Deps: []graph.Dep{{On: command, As: "stdout", Outputs: []string{"stdout"}}}}))
		results.Cells = append(results.Cells, report.Cell{Problem: "p", Solution: solution, Backend: "local.host", Repeat: 1, Status: verdict.Success,
			Checkpoints: []report.Checkpoint{{Policy: "core-cases", Class: verdict.Judged}}})
	}
	r, err := g.Execute(t.Context(), targets, graph.Options{Store: store, Locker: store, Run: "run", Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var answered []Answered
	for _, id := range g.Closure(targets) {
		answered = append(answered, Answered{g.Node(id).Addr, r.Status(id).Key})
	}
	e, err := Collect(t.Context(), store, answered, results)
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]string{}
	for _, n := range e.Nodes {
		for _, input := range n.Inputs {
			at := slices.IndexFunc(e.Nodes, func(n Node) bool { return n.Key == input })
			inputs[n.Addr] += e.Nodes[at].Addr
		}
	}
	want := map[string]string{}
	for _, solution := range []string{"a", "b"} {
		want["command:p/"+solution+"@local.host"] = "submission:p/" + solution
		want["score:p/"+solution+"@local.host"] = "command:p/" + solution + "@local.host"
	}
	if !maps.Equal(inputs, want) {
		t.Errorf("%v", inputs)
	}
	k := key(t)
	if c := check(t, write(t, store, k, e), k.PublicKey); c.Proven != 2 || len(c.Findings) > 0 {
		t.Errorf("%d proven, %+v", c.Proven, c.Findings)
	}
}

// Without everything that a verdict rests on in the store, no bundle is written.
func TestGoneRecords(t *testing.T) {
	_, answered, results := project(t)
	var gone *GoneError
	if _, err := Collect(t.Context(), cache.NewMemory(), answered, results); !errors.As(err, &gone) || gone.Name != "p/one/bad@local.host" {
		t.Errorf("%v", err)
	}
}

// A draw depends only on the seed, and contains only judged cells.
func TestDraw(t *testing.T) {
	c := &Checked{Digest: "r", Entries: &Entries{}}
	for i := range 50 {
		node := cache.Key{byte(i)}
		v := Verdict{Problem: "p", Solution: fmt.Sprint(i), Backend: "b", Repeat: 1, Verdict: &verdict.Checkpoint{}}
		if i%5 > 0 {
			v.Node = &node
		}
		c.Entries.Verdicts = append(c.Entries.Verdicts, v)
	}
	names := func(n int, seed string) (all []string) {
		for _, v := range c.Draw(n, seed) {
			if v.Node == nil {
				t.Errorf("%s was drawn", v.Name())
			}
			all = append(all, v.Name())
		}
		return all
	}
	if len(names(100, "")) != 40 || len(names(7, "")) != 7 {
		t.Error("wrong number")
	}
	if !slices.Equal(names(7, "a"), names(7, "a")) || slices.Equal(names(7, "a"), names(7, "b")) {
		t.Error("the draw does not depend on the seed alone")
	}
	drawn := names(7, "a")
	if c.Digest = "s"; slices.Equal(names(7, "a"), drawn) {
		t.Error("the draw does not depend on the digest")
	}
}
