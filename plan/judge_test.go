package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// judgeFiles is a problem of two subtasks, one number per case, with solutions
// in a language of one word for each thing that a program can do; see toy.
const judgeFiles = `
-- sum/checker.cc --
near
-- sum/interactor.cc --
ask
-- sum/include/lib.h --
// nothing
-- sum/testdata/1.in --
2
-- sum/testdata/1.ans --
4
-- sum/testdata/2.in --
5
-- sum/testdata/2.ans --
10
-- sum/testdata/3.in --
8
-- sum/testdata/3.ans --
16
-- double.cpp --
double
-- near.cpp --
one-off
-- syntax.cpp --
error
-- loop.py --
loop
`

const judgeProblem = `
backend "gojudge" "box" {}

problem "sum" {
  judge {
    root    = "sum"
    checker = "checker.cc"
    include = "include"
    subtask {
      score   = 10
      n_cases = 2
    }
    subtask {
      score   = 30
      n_cases = 1
    }
  }
}
`

func judgeSolutions(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		base, _, _ := strings.Cut(name, ".")
		fmt.Fprintf(&b, "solution %q {\n  problem = problem.sum\n  source = %q\n}\n", base, name)
	}
	return b.String()
}

func newJudgeProject(t *testing.T, config string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir(), store: cache.NewMemory(), boxes: map[string]*box{}}
	p.sandbox = fake.NewSandbox(p.store, toy)
	for _, f := range txtar.Parse([]byte(judgeFiles)).Files {
		p.write(f.Name, string(f.Data))
	}
	p.write("fevalgraph.hcl", config)
	p.compile()
	return p
}

// toy implements a compiler and its programs: a program is its source without comments, and its only word selects its
// behaviour.
func toy(ctx context.Context, p *fake.Process) (backend.Ending, error) {
	if p.Argv[0] == "/usr/bin/g++" {
		code, err := p.Dir.Read(p.Argv[1])
		if err != nil {
			return backend.Ending{}, err
		}
		word := toyWord(code)
		if word == "error" {
			fmt.Fprintf(p.Errors, "%s:1:1: error: /tmp/ccAbCd12.o: no such word\n", p.Argv[1])
			return backend.Ending{Code: 1}, nil
		}
		p.Dir.Write("a", []byte(word))
		return backend.Ending{}, nil
	}
	name := p.Argv[len(p.Argv)-1]
	if len(p.Argv) > 2 {
		name = p.Argv[0]
	}
	code, err := p.Dir.Read(name)
	if err != nil {
		return backend.Ending{}, err
	}
	read := func(name string) int {
		content, _ := p.Dir.Read(name)
		var n int
		fmt.Sscan(string(content), &n)
		return n
	}
	switch word := toyWord(code); word {
	case "double", "one-off", "two-off":
		in, _ := io.ReadAll(p.Input)
		n, _ := strconv.Atoi(strings.TrimSpace(string(in)))
		n *= 2
		if word != "double" && n > 10 {
			n += strings.Index("one two", word[:3])/4 + 1
		}
		fmt.Fprintf(p.Output, "%d from %s\n", n, word) // no two print the same
	case "loop":
		return backend.Ending{Status: backend.CPULimit}, nil
	case "inject":
		fmt.Fprint(p.Errors, "Ratio: 1.0 RatioUnbounded: 77.5")
		return backend.Ending{Code: 3}, nil
	case "near", "exact": // checkers: a miss by one earns a half, or nothing
		switch d := read("out.txt") - read("ans.txt"); {
		case d == 0:
			return backend.Ending{}, nil
		case d == 1 && word == "near":
			fmt.Fprint(p.Errors, "points 0.5 near\nRatio: 0.5000, RatioUnbounded: 0.7500.")
			return backend.Ending{Code: 7}, nil
		}
		fmt.Fprint(p.Errors, "wrong answer")
		return backend.Ending{Code: 1}, nil
	case "fails":
		if read("in.txt") == 5 {
			fmt.Fprint(p.Errors, "FAIL cannot read the answer")
			return backend.Ending{Code: 3}, nil
		}
		return backend.Ending{}, nil
	case "waits":
		if read("in.txt") == 5 {
			return backend.Ending{Status: backend.ClockLimit}, nil
		}
		return backend.Ending{}, nil
	case "ask": // the interactor of "double": it requests its own input
		fmt.Fprintln(p.Output, read("in.txt"))
		var said int
		fmt.Fscan(p.Input, &said)
		if said != read("ans.txt") {
			fmt.Fprintf(p.Errors, "wrong answer %d", said)
			return backend.Ending{Code: 1}, nil
		}
		fmt.Fprint(p.Errors, "ok")
	case "doubles":
		var n int
		fmt.Fscan(p.Input, &n)
		fmt.Fprintln(p.Output, 2*n)
	case "unplug":
		return backend.Ending{}, errors.New("cable cut")
	}
	return backend.Ending{}, ctx.Err()
}

func toyWord(code []byte) string {
	for line := range strings.Lines(string(code)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			return line
		}
	}
	return ""
}

// ran runs everything and returns the addresses of executed nodes, and for each solution its class, its scores and the
// verdicts on its cases.
func (p *project) judged() (ran []string, came map[string]string) {
	p.t.Helper()
	p.compile()
	r, results := p.execute(context.Background(), graph.Options{})
	for _, id := range r.Nodes {
		if st := r.Status(id); st.State != event.Cached {
			ran = append(ran, p.plan.Graph.Node(id).Addr)
		}
	}
	came = map[string]string{}
	for _, cell := range results.Cells {
		name := cell.Solution
		if cell.Repeat > 1 {
			name += fmt.Sprint("#", cell.Repeat)
		}
		c := cell.Checkpoints[0]
		line := string(c.Class)
		for _, score := range []*float64{cell.Score, cell.ScoreUnbounded} {
			if score == nil {
				line += " -"
				continue
			}
			line += " " + strconv.FormatFloat(*score, 'g', -1, 64)
		}
		for _, one := range c.Tests {
			line += " " + strings.ReplaceAll(one.Verdict, " ", "-")
		}
		came[name] = line
	}
	return ran, came
}

func TestJudgeProblem(t *testing.T) {
	p := newJudgeProject(t, judgeProblem+judgeSolutions("double.cpp", "near.cpp", "syntax.cpp", "loop.py")+`
solution "lost" {
  problem = problem.sum
  source  = "lost.FAILED"
  failed  = "the model gave no answer"
}
`)
	_, came := p.judged()
	want := map[string]string{
		"double": "judged 100 100 AC AC AC",
		"near":   "judged 83.33333333333334 91.66666666666666 AC AC points",
		"syntax": "compile_error - -",
		"loop":   "judged 0 0 TLE TLE TLE",
		"lost":   "no_submission 0 0",
	}
	if diff := cmp.Diff(want, came); diff != "" {
		t.Error(diff)
	}
	if ran, again := p.judged(); len(ran) > 0 || cmp.Diff(came, again) != "" {
		t.Errorf("a second run executes %v and gives %v", ran, again)
	}
}

// After a change, exactly the affected nodes are stale.
func TestJudgeStaleness(t *testing.T) {
	solutions := judgeSolutions("double.cpp", "near.cpp")
	score, scores := []string{"score:sum/near@gojudge.box"}, []string{"score:sum/near@gojudge.box", "score:sum/double@gojudge.box"}
	each := func(kind string, cases ...string) (all []string) {
		for _, solution := range []string{"double", "near"} {
			for _, one := range cases {
				all = append(all, kind+":sum/"+one+"/"+solution+"@gojudge.box")
			}
		}
		return all
	}
	for _, try := range []struct {
		name   string
		change func(*project)
		want   []string
	}{
		{"a stricter checker", func(p *project) { p.write("sum/checker.cc", "exact\n") },
			slices.Concat([]string{"checker:sum@gojudge.box"}, each("check", "1", "2", "3"), score)},
		{"a comment in the checker", func(p *project) { p.write("sum/checker.cc", "// new\nnear\n") }, []string{"checker:sum@gojudge.box"}},
		{"a header", func(p *project) { p.write("sum/include/lib.h", "// edited\n") }, []string{"checker:sum@gojudge.box"}},
		{"a comment in a solution", func(p *project) { p.write("near.cpp", "// new\none-off\n") }, []string{"compile:sum/near@gojudge.box"}},
		{"another solution", func(p *project) { p.write("near.cpp", "two-off\n") }, slices.Concat([]string{"compile:sum/near@gojudge.box"},
			[]string{"run:sum/1/near@gojudge.box", "run:sum/2/near@gojudge.box", "run:sum/3/near@gojudge.box"},
			[]string{"check:sum/1/near@gojudge.box", "check:sum/2/near@gojudge.box", "check:sum/3/near@gojudge.box"}, score)},
		{"an answer", func(p *project) { p.write("sum/testdata/1.ans", "5\n") },
			slices.Concat([]string{"testdata:sum/1"}, each("check", "1"), scores)},
		{"more time", func(p *project) {
			p.write("fevalgraph.hcl", strings.Replace(judgeProblem, "include =", "time = \"2s\"\n    include =", 1)+solutions)
		}, each("run", "1", "2", "3")},
		{"weights", func(p *project) {
			p.write("fevalgraph.hcl", strings.Replace(judgeProblem, "include =", "weights = true\n    include =", 1)+solutions)
		}, scores},
		{"one case more", func(p *project) {
			p.write("sum/testdata/4.in", "1\n")
			p.write("sum/testdata/4.ans", "2\n")
			p.write("fevalgraph.hcl", strings.Replace(judgeProblem, "n_cases = 1", "n_cases = 2", 1)+solutions)
		}, slices.Concat([]string{"testdata:sum/4"}, each("run", "4"), each("check", "4"), scores)},
		{"another rule of passing", func(p *project) {
			p.write("fevalgraph.hcl", strings.Replace(judgeProblem, "problem \"sum\" {", "problem \"sum\" {\n  pass {\n    when = self.score > 90\n  }\n", 1)+solutions)
		}, scores},
	} {
		t.Run(try.name, func(t *testing.T) {
			p := newJudgeProject(t, judgeProblem+solutions)
			if _, came := p.judged(); came["double"] != "judged 100 100 AC AC AC" {
				t.Fatal(came)
			}
			// Times vary, and the score node passes them on, but nodes that only have other times do not run.
			measured := func(addr string) bool { return strings.HasPrefix(addr, "score:") && !slices.Contains(try.want, addr) }
			try.change(p)
			ran, _ := p.judged()
			got := slices.DeleteFunc(slices.Sorted(slices.Values(ran)), measured)
			if diff := cmp.Diff(slices.Sorted(slices.Values(try.want)), got); diff != "" {
				t.Error(diff)
			}
			if ran, _ := p.judged(); len(ran) > 0 {
				t.Errorf("a second run executes %v", ran)
			}
		})
	}
}

// A checker that crashes on the output of a solution gives the case 0 points, with a note in the result.
func TestCheckerThatFails(t *testing.T) {
	p := newJudgeProject(t, judgeProblem+judgeSolutions("double.cpp"))
	p.write("sum/checker.cc", "fails")
	if _, came := p.judged(); came["double"] != "judged 66.66666666666666 66.66666666666666 AC checker-failed AC" {
		t.Error(came)
	}
	ran, _ := p.judged()
	_, results := p.execute(t.Context(), graph.Options{})
	cell := results.Cells[0]
	if want := "case 2 earns nothing: checker failed: exit status 3: FAIL cannot read the answer"; len(ran) > 0 || cell.Status != verdict.Success || *cell.Message != want {
		t.Errorf("%s, %q; want %q, stored (ran %q)", cell.Status, *cell.Message, want, ran)
	}
}

// A checker that waits can do so because the machine is busy: it is broken, never scored or stored, and known results
// of the other cases are shown.
func TestCheckerThatWaits(t *testing.T) {
	p := newJudgeProject(t, judgeProblem+judgeSolutions("double.cpp"))
	p.write("sum/checker.cc", "waits")
	ran, came := p.judged()
	if got, want := came["double"], "checker_failed - - AC checker-failed AC"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Contains(ran, "check:sum/2/double@gojudge.box") {
		t.Error(ran)
	}
	again, _ := p.judged()
	if want := []string{"check:sum/2/double@gojudge.box", "score:sum/double@gojudge.box"}; !slices.Contains(again, want[0]) || slices.Contains(again, "check:sum/1/double@gojudge.box") {
		t.Errorf("the next run executes %v", again)
	}
	p.write("sum/checker.cc", "near")
	if _, came := p.judged(); came["double"] != "judged 100 100 AC AC AC" {
		t.Error(came)
	}
	p.write("sum/checker.cc", "error")
	_, came = p.judged()
	if came["double"] != "input_error - -" {
		t.Error(came)
	}
}

func TestInteractiveProblem(t *testing.T) {
	p := newJudgeProject(t, strings.NewReplacer(`checker = "checker.cc"`, `interactor = "interactor.cc"`, "judge {", "judge {\nmode = \"interactive\"").Replace(judgeProblem)+
		judgeSolutions("double.cpp", "loop.py"))
	p.write("double.cpp", "doubles")
	_, came := p.judged()
	want := map[string]string{"double": "judged 100 100 AC AC AC", "loop": "judged 0 0 TLE TLE TLE"}
	if diff := cmp.Diff(want, came); diff != "" {
		t.Error(diff)
	}
	p.write("sum/interactor.cc", "// said more\nask")
	if ran, _ := p.judged(); !slices.Equal(ran, []string{"interactor:sum@gojudge.box"}) {
		t.Errorf("executed %v", ran)
	}
}

// The standard error of a solution counts only with compat.
func TestInjection(t *testing.T) {
	for compat, want := range map[string]string{"safe": "judged 0 0 RE RE RE", "frontier": "judged 100 7750 RE RE RE"} {
		p := newJudgeProject(t, strings.Replace(judgeProblem, "include =", "compat = \""+compat+"\"\n    include =", 1)+judgeSolutions("double.cpp"))
		p.write("double.cpp", "inject")
		if _, came := p.judged(); came["double"] != want {
			t.Errorf("%s: %v", compat, came)
		}
	}
}

func TestJudgeThatBreaks(t *testing.T) {
	p := newJudgeProject(t, judgeProblem+judgeSolutions("double.cpp"))
	p.write("double.cpp", "unplug")
	_, came := p.judged()
	if got := came["double"]; !strings.HasPrefix(got, string(verdict.NotJudged)+" - -") {
		t.Error(got)
	}
	if n := len(p.sandbox.Requests()); n != 2+3*sandboxAttempts {
		t.Errorf("%d requests", n)
	}
}

// Unknown rules are an error, never replaced by ours.
func TestUnknownRules(t *testing.T) {
	p := newJudgeProject(t, strings.Replace(judgeProblem, "include =", "compat = \"frontier\"\n    include =", 1)+judgeSolutions("double.cpp"))
	p.write("double.cpp", "doubles")
	p.judged()
	env := p.environment()
	env.Benchmarks = []Benchmark{{Name: "frontier"}}
	if _, err := Compile(p.plan.Config, 1, env); err == nil || !strings.Contains(err.Error(), `compat = "frontier": this version has no such rules`) {
		t.Errorf("error %v", err)
	}
}
