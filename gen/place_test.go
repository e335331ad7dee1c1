package gen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/gen/modeltest"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// chain is a generator of a problem of three checkpoints, whose model answers by the task text.
type chain struct {
	*project
	server  *modeltest.Server
	network *modeltest.Network
	problem *lang.Problem
	answers map[string]string // by the task text
}

func newChain(t *testing.T) *chain {
	c := &chain{project: newProject(t), answers: map[string]string{
		"first":  "```main.py\none\n```\n```lib.py\nlib\n```\n",
		"second": "```main.py\none\ntwo\n```\n",
		"third":  "```lib.py\nnew\n```\n",
	}}
	c.server = &modeltest.Server{Answer: func(r modeltest.Request) string {
		for task, answer := range c.answers {
			if strings.Contains(r.Prompt, "task: "+task+"\n") {
				return answer
			}
		}
		return "what?"
	}}
	c.network = modeltest.Start(c.server)
	t.Cleanup(c.network.Stop)
	c.problem = c.project.problem("p", "task: first\n", "task: second\n", "task: third\n")
	return c
}

func (c *chain) batch() *Batch { return New([]*Generator{c.generator(c.network, 1, c.problem)}, nil) }

// generate runs all steps, and returns their outcomes, the number of prompts, and the files.
func (c *chain) generate() (became string, asked int, files string) {
	c.t.Helper()
	before := len(c.server.Requests())
	_, placed := c.run(c.t.Context(), c.batch())
	return outcomes(placed), len(c.server.Requests()) - before, c.files("generated/small/p")
}

func (c *chain) want(became string, asked int, files string) {
	c.t.Helper()
	gotBecame, gotAsked, gotFiles := c.generate()
	if gotBecame != became || gotAsked != asked || gotFiles != files {
		c.t.Errorf("got  %s; %d prompts; %s\nwant %s; %d prompts; %s", gotBecame, gotAsked, gotFiles, became, asked, files)
	}
}

// A choice between blocks of code is noted.
func TestChoiceIsNoted(t *testing.T) {
	c := newChain(t)
	c.answers["first"] = "```python\na draft\n```\n```python\none\n```\n"
	for range 2 { // also when the answer is stored
		_, placed := c.run(t.Context(), c.batch())
		if want := "the answer has 2 blocks of code in python; the last one is used"; placed[0].Reason != want || placed[1].Reason != "" {
			t.Errorf("%s %q, %s %q, want %q", placed[0].Outcome, placed[0].Reason, placed[1].Outcome, placed[1].Reason, want)
		}
	}
}

const whole = "1/c1/lib.py=lib 1/c1/main.py=one 1/c2/lib.py=lib 1/c2/main.py=one\ntwo 1/c3/lib.py=new 1/c3/main.py=one\ntwo"

// The prompt of a checkpoint contains the code of the previous one, which the answer changes.
func TestChain(t *testing.T) {
	c := newChain(t)
	c.want("written, written, written", 3, whole)
	requests := c.server.Requests()
	if strings.Contains(requests[0].Prompt, "The code so far") || !strings.Contains(requests[1].Prompt, "```file=\"main.py\"\none\n```") || !strings.Contains(requests[2].Prompt, "one\ntwo\n") {
		t.Errorf("%q", requests[1].Prompt)
	}
	c.want("same, same, same", 0, whole)
	// After a task's text changed, its prompt is sent again, as are those that then contain other code.
	c.answers["again"] = "```main.py\none\nzwei\n```\n"
	write(t, filepath.Join(c.dir, "p-2.md"), "task: again\n")
	c.want("same, written, written", 2, strings.ReplaceAll(whole, "two", "zwei"))
	// Back again, everything is known.
	write(t, filepath.Join(c.dir, "p-2.md"), "task: second\n")
	c.want("same, written, written", 0, whole)
	// A task text that changes nothing in the code stops there.
	c.answers["same"] = c.answers["first"]
	write(t, filepath.Join(c.dir, "p-1.md"), "task: same\n")
	c.want("same, same, same", 1, whole)
}

// An answer without code results in a reason, without code of later or earlier checkpoints.
func TestFailed(t *testing.T) {
	c := newChain(t)
	c.want("written, written, written", 3, whole)
	c.answers["no"] = "I would rather not."
	write(t, filepath.Join(c.dir, "p-2.md"), "task: no\n")
	c.want("same, unusable, no answer", 1, "1/c1/lib.py=lib 1/c1/main.py=one 1/c2.FAILED=the answer has no fenced code")
	c.want("same, unusable, no answer", 0, "1/c1/lib.py=lib 1/c1/main.py=one 1/c2.FAILED=the answer has no fenced code")
	write(t, filepath.Join(c.dir, "p-2.md"), "task: second\n")
	c.want("same, written, written", 0, whole)
	c.server.Fault = func(int, modeltest.Request) modeltest.Fault { return modeltest.Truncated }
	write(t, filepath.Join(c.dir, "p-1.md"), "task: first\nlonger\n")
	c.want("unusable, no answer, no answer", 1, "1/c1.FAILED=the answer was cut off at its limit of tokens")
}

// A call that was killed half-way leaves no later code that was made from other code.
func TestKilledWhileWriting(t *testing.T) {
	c := newChain(t)
	c.generate()
	write(t, filepath.Join(c.dir, "generated/small/p/1/c1/main.py"), "uno\n")
	write(t, filepath.Join(c.dir, "generated/small/p/1/c1/lib.py"), "lib\n")
	c.answers["other"] = "```main.py\nuno\n```\n```lib.py\nlib\n```\n"
	c.answers["second"] = "no"
	write(t, filepath.Join(c.dir, "p-1.md"), "task: other\n")
	c.server.Fault = func(_ int, r modeltest.Request) modeltest.Fault {
		if strings.Contains(r.Prompt, "task: second") {
			return modeltest.TooLong
		}
		return modeltest.None
	}
	c.want("same, no answer, no answer", 2, "1/c1/lib.py=lib 1/c1/main.py=uno")
}

// The user's changes and unknown files stay.
func TestEdited(t *testing.T) {
	c := newChain(t)
	c.generate()
	edited := filepath.Join(c.dir, "generated/small/p/1/c2/main.py")
	write(t, edited, "mine")
	c.answers["again"] = "```main.py\nother\n```"
	write(t, filepath.Join(c.dir, "p-2.md"), "task: again\n")
	mine := "1/c1/lib.py=lib 1/c1/main.py=one 1/c2/lib.py=lib 1/c2/main.py=mine 1/c3/lib.py=new 1/c3/main.py=other"
	c.want("same, edited, written", 2, mine)
	c.answers["no"] = "no"
	write(t, filepath.Join(c.dir, "p-2.md"), "task: no\n")
	c.want("same, edited, no answer", 1, mine)
	if err := os.RemoveAll(filepath.Dir(edited)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c.dir, "p-2.md"), "task: second\n")
	c.want("same, written, written", 0, whole)
}

// gen reads and writes nothing through links, and removes leftovers of killed calls.
func TestLinks(t *testing.T) {
	c := newChain(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "main.py"), "precious")
	place := filepath.Join(c.dir, "generated/small/p/1")
	if err := os.MkdirAll(place, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(place, ".placing-c2", "half.py"), "half")
	write(t, filepath.Join(place, ".placing-old-c2", "old.py"), "old")
	for _, name := range []string{"c1", "c3.FAILED"} {
		if err := os.Symlink(outside, filepath.Join(place, name)); err != nil {
			t.Fatal(err)
		}
	}
	became, _, _ := c.generate()
	if became != "edited, written, written" {
		t.Error(became)
	}
	entries, err := os.ReadDir(outside)
	if content, _ := os.ReadFile(filepath.Join(outside, "main.py")); err != nil || len(entries) != 1 || string(content) != "precious" {
		t.Errorf("%v has %q", entries, content)
	}
	left, _ := filepath.Glob(filepath.Join(place, ".placing*"))
	if len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	// A link to a directory is not followed either.
	c = newChain(t)
	if err := os.MkdirAll(filepath.Join(c.dir, "generated/small"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(c.dir, "generated/small/p")); err != nil {
		t.Fatal(err)
	}
	rep, err := c.batch().Graph.Execute(t.Context(), c.targets(), graph.Options{Store: c.store, Pools: map[string]int{graph.CPUPool: 1, "generator.small": 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.batch().Place(t.Context(), rep, c.store); err == nil {
		t.Error("files were written elsewhere")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}

func (c *chain) targets() (all []graph.ID) {
	for _, s := range c.batch().Steps {
		all = append(all, s.Files)
	}
	return all
}

// Existing files are the code of previous checkpoints, without a prompt for them.
func TestPresent(t *testing.T) {
	c := newChain(t)
	write(t, filepath.Join(c.dir, "generated/small/p/1/c1/main.py"), "one\n")
	g := c.generator(c.network, 1, c.problem)
	b := New([]*Generator{g}, func(s *Step) bool { there, _ := s.Present(); return there })
	_, placed := c.run(t.Context(), b)
	if got := outcomes(placed); got != "kept, written, written" || len(c.server.Requests()) != 2 {
		t.Errorf("%s, %d requests", got, len(c.server.Requests()))
	}
	if got := c.files("generated/small/p"); got != "1/c1/main.py=one 1/c2/main.py=one\ntwo 1/c3/lib.py=new 1/c3/main.py=one\ntwo" {
		t.Error(got)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(c.dir, "generated/small/p/1/c1/x")); err != nil {
		t.Fatal(err)
	}
	rep, _ := c.run(t.Context(), New([]*Generator{c.generator(c.network, 1, c.problem)}, func(s *Step) bool { return s.Before == nil }))
	if rep.InputErrors != 1 || len(c.server.Requests()) != 2 {
		t.Errorf("%+v", rep)
	}
}

// Names that some systems reject for directories are replaced.
func TestPlaces(t *testing.T) {
	for name, want := range map[string]string{"tally": "tally", `suite["a"]`: "suite%5B%22a%22%5D", "a/b": "a%2Fb", "..": "%2E.", "a%2Fb": "a%252Fb", "": ""} {
		if got := fileName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	g := &lang.Generator{Name: "g"}
	for entry, want := range map[string]string{"python tally.py": "tally.py", "uv run ./src/main.py --x": "src/main.py", "node": "", "sh /abs/x.sh": "", "python ../x.py": ""} {
		if got := unnamed(g, &lang.Problem{Entry: entry}); got != want {
			t.Errorf("%q: %q, want %q", entry, got, want)
		}
	}
	if got := unnamed(g, &lang.Problem{Judge: &lang.Judge{}}); got != "solution.cpp" {
		t.Error(got)
	}
}

// The record next to an attempt has labels for a solution block.
func TestLabels(t *testing.T) {
	c := newChain(t)
	c.generate()
	text, err := os.ReadFile(filepath.Join(c.dir, "generated/small/p/1.json"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, cost := 0, 0.0
	for _, r := range c.server.Requests() {
		in, out := len(r.Prompt)/4, len(c.server.Answer(r))/4
		tokens += in + out
		cost += float64(in)*1e-6 + float64(out)*1e-3
	}
	for _, want := range []string{`"generator": "small"`, `"model": "small"`, `"attempt": "1"`, fmt.Sprintf(`"tokens": "%d"`, tokens), fmt.Sprintf(`"cost": "%.6f"`, cost)} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
