package pytest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// checkpointPart returns the part that a run of a checkpoint's test file left.
func checkpointPart(checkpoint string, l runOutput) part {
	return newPart("tests/test_checkpoint_"+checkpoint+".py", l)
}

func checkpointTest(checkpoint, name, outcome string) one {
	o := one{id: "tests/test_checkpoint_" + checkpoint + ".py::" + name, outcome: outcome}
	if outcome == "failed" {
		o.failure = "assert 0"
	}
	return o
}

// TestMergedEnds covers the ends of one of two parts; the other one passes.
func TestMergedEnds(t *testing.T) {
	fine := checkpointPart("1", runOutput{report: encodeJSON(0, checkpointTest("1", "a", "passed"), checkpointTest("1", "b", "passed")), log: collected(2), timing: session.Timing{Seconds: 1}})
	notCollected := []byte(`{"exitcode":2,"summary":{"collected":0},"tests":[],"collectors":[{"nodeid":"tests/test_checkpoint_2.py","outcome":"failed","longrepr":"E   ImportError: x"}]}`)
	for _, try := range []struct {
		name      string
		left      runOutput
		class     verdict.Class
		code      int
		collected int
		infra     bool
		tests     string
		message   string // in full, without the file that it begins with
	}{
		{name: "passes", left: runOutput{report: encodeJSON(0, checkpointTest("2", "c", "passed")), log: collected(1)}, class: verdict.Judged, collected: 3, tests: "a b c"},
		{name: "fails", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: encodeJSON(1, checkpointTest("2", "c", "failed")), log: collected(1)}, class: verdict.Judged, code: 1, collected: 3, tests: "a b c!"},
		{name: "has no tests", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 5}}, report: encodeJSON(5), log: []byte("collected 0 items\n")}, class: verdict.Judged, collected: 2, tests: "a b"},
		{name: "has none left", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 5}}, report: encodeJSON(5), log: []byte("collected 4 items / 4 deselected\n")}, class: verdict.Judged, collected: 6, tests: "a b"},
		{name: "fails without tests", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: encodeJSON(1), log: []byte("collected 0 items\n")},
			class: verdict.NoReport, code: 1, collected: 2, message: "pytest ended with exit code 1, without a valid report: the report has no failure, but pytest ended with exit code 1"},
		{name: "cannot be imported", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, report: notCollected, log: []byte("collected 0 items / 1 error\nInterrupted: 1 error during collection")},
			class: verdict.CollectionError, code: 2, collected: 2, infra: true, message: "pytest could not collect the tests: tests/test_checkpoint_2.py: ImportError: x"},
		{name: "cannot be imported in part, and goes on",
			left:  runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: []byte(strings.Replace(string(encodeJSON(1, checkpointTest("2", "c", "passed"))), `"tests"`, `"collectors":[{"nodeid":"tests/t.py","outcome":"failed","longrepr":"E   ImportError: x"}],"tests"`, 1)), log: collected(1)},
			class: verdict.CollectionError, code: 1, collected: 3, tests: "a b c", message: "pytest could not collect the tests: tests/t.py: ImportError: x"},
		{name: "conftest cannot be loaded", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 4}}, log: []byte("ImportError while loading conftest '/w/tests/conftest.py'.\nE   ImportError: x\n")},
			class: verdict.CollectionError, code: 4, infra: true, message: "conftest.py could not be loaded: ImportError: x"},
		{name: "is misused", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 4}}, log: []byte("ERROR: file or directory not found: tests/test_checkpoint_2.py\n")},
			class: verdict.PytestFailed, code: 4, infra: true, message: "pytest was started with invalid arguments: ERROR: file or directory not found: tests/test_checkpoint_2.py"},
		{name: "has an internal error", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 3}}, report: encodeJSON(3, checkpointTest("2", "c", "passed")), log: collected(9)},
			class: verdict.PytestFailed, code: 3, collected: 11, infra: true, tests: "a b c", message: "pytest had an internal error: ..."},
		{name: "is interrupted while it collects", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2), log: []byte("!!! KeyboardInterrupt !!!\n")},
			class: verdict.PytestFailed, code: 2, infra: true, message: "pytest was interrupted: !!! KeyboardInterrupt !!!"},
		{name: "ends pytest", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 7}}, report: encodeJSON(7, checkpointTest("2", "c", "passed")), log: collected(2)},
			class: verdict.PytestFailed, code: 7, collected: 4, tests: "a b c", message: "pytest ended with exit code 7: ..."},
		{name: "is killed", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed"}}, report: encodeJSON(0, checkpointTest("2", "c", "passed")), log: collected(1)},
			class: verdict.Killed, code: -1, collected: 3, message: "pytest was ended by a signal: killed"},
		{name: "is killed while it collects", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 137}}, log: []byte("=== test session starts ===\n")},
			class: verdict.Killed, code: 137, infra: true, message: "pytest was ended by signal 9"},
		{name: "takes too long", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed", TimedOut: true, Limit: 3}}, log: collected(1)},
			class: verdict.SessionTimeout, code: -1, collected: 3, message: "pytest exceeded the session limit of 3s"},
		{name: "leaves no report", left: runOutput{log: collected(1)},
			class: verdict.NoReport, collected: 3, message: "pytest ended with exit code 0, without a valid report: pytest wrote no report"},
		{name: "leaves the report of another", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: encodeJSON(0, checkpointTest("2", "c", "passed")), log: collected(1)},
			class: verdict.NoReport, code: 1, collected: 3, message: "pytest ended with exit code 1, without a valid report: pytest-report.json has exit code 0, but pytest ended with 1"},
		{name: "leaves the other report", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: []byte("{"), ctrf: encodeCTRF(checkpointTest("2", "c", "failed")), log: collected(1)},
			class: verdict.Judged, code: 1, collected: 3, tests: "a b c!"},
	} {
		t.Run(try.name, func(t *testing.T) {
			try.left.timing.Seconds = 2
			v, m := parse.judgeParts([]part{fine, checkpointPart("2", try.left)})
			if v.Class != try.class || *v.ExitCode != try.code || v.Collected != try.collected || v.InfrastructureFailure != try.infra {
				t.Errorf("class %s, exit code %d, collected %d, infrastructure failure %v", v.Class, *v.ExitCode, v.Collected, v.InfrastructureFailure)
			}
			if got := named(v); got != try.tests || len(m.Tests) != len(v.Tests) {
				t.Errorf("tests %q, want %q; %d measurements", got, try.tests, len(m.Tests))
			}
			want := try.message
			if want != "" && !strings.Contains(want, "could not collect") { // which names its file
				want = "tests/test_checkpoint_2.py: " + want
			}
			if m.Message != want || m.DurationMS != 3000 {
				t.Errorf("after %v ms: %q, want %q", m.DurationMS, m.Message, want)
			}
		})
	}
}

// named lists the tests of a verdict by name, with "!" unless they passed.
func named(v verdict.Checkpoint) string {
	var names []string
	for _, test := range v.Tests {
		name := test.ID
		if test.Status != verdict.TestPassed {
			name += "!"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// TestMergedTroubles: of several troubles, the first that a single run would have met decides.
func TestMergedTroubles(t *testing.T) {
	killed := runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed"}}, log: collected(1)}
	killedCollecting := runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed"}}}
	interrupted := func(n string) runOutput {
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2, checkpointTest(n, "x"+n, "passed"), one{id: "tests/test_checkpoint_" + n + ".py::y" + n, outcome: "passed", cut: true}), log: append(collected(9), "KeyboardInterrupt"...)}
	}
	noImport := runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, log: []byte("collected 0 items / 1 error\nE   SyntaxError: x\nInterrupted: 1 error during collection")}
	passing := func(n string) runOutput {
		return runOutput{report: encodeJSON(0, checkpointTest(n, "p"+n, "passed")), log: collected(1)}
	}
	empty := runOutput{exit: exitFacts{Exit: session.Exit{Code: 5}}, report: encodeJSON(5), log: []byte("collected 0 items\n")}
	listing := runOutput{report: encodeJSON(0), log: collected(3)}
	for _, try := range []struct {
		name  string
		lefts []runOutput // of checkpoints 1, 2 ...
		want  string      // class, exit code, collected, tests
	}{
		{"killed before another cannot be imported", []runOutput{killed, noImport}, "collection_error 2 1: "},
		{"killed while collecting", []runOutput{noImport, killedCollecting}, "killed -1 0: "},
		{"interrupted twice", []runOutput{interrupted("1"), interrupted("2")}, "pytest_failed 2 18: x1 y1!"},
		{"interrupted, others pass", []runOutput{passing("1"), interrupted("2"), passing("3")}, "pytest_failed 2 11: p1 x2 y2!"},
		{"interrupted, then killed", []runOutput{interrupted("1"), killed}, "pytest_failed 2 10: x1 y1!"},
		{"killed, then interrupted", []runOutput{killed, interrupted("2")}, "killed -1 10: "},
		{"interrupted before its first test", []runOutput{passing("1"), {exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2), log: collected(2)}, passing("3")}, "pytest_failed 2 4: "},
		{"interrupted while collecting", []runOutput{passing("1"), {exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2), log: collected(0)}, passing("3")}, "pytest_failed 2 1: "},
		{"a hook fails, then interrupted while collecting", []runOutput{{exit: exitFacts{Exit: session.Exit{Code: 3}}, report: encodeJSON(3), log: collected(2)}, {exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2), log: collected(0)}}, "pytest_failed 2 2: "},
		{"no tests anywhere", []runOutput{empty, empty}, "no_tests 5 0: "},
		{"no tests run anywhere", []runOutput{empty, listing}, "no_tests 0 3: "},
		{"no tests, then a file that cannot be imported", []runOutput{empty, noImport}, "collection_error 2 0: "},
	} {
		var parts []part
		for i, l := range try.lefts {
			parts = append(parts, checkpointPart(fmt.Sprint(i+1), l))
		}
		v, m := parse.judgeParts(parts)
		if got := fmt.Sprintf("%s %d %d: %s", v.Class, *v.ExitCode, v.Collected, named(v)); got != try.want {
			t.Errorf("%s: %s, want %s", try.name, got, try.want)
		}
		if m.Message == "" {
			t.Errorf("%s: no message", try.name)
		}
	}
}

// TestMergedOrder: the part that runs the common tests has several files; tests of the other parts belong between them.
func TestMergedOrder(t *testing.T) {
	leading := checkpointPart("1", runOutput{report: encodeJSON(0,
		one{id: "tests/a_test.py::t", outcome: "passed"}, one{id: "tests/sub/test_x.py::t", outcome: "passed"},
		one{id: "tests/test_checkpoint_1.py::t", outcome: "passed"}, one{id: "tests/test_checkpoint_1.py::s", outcome: "passed"},
		one{id: "tests/test_checkpoint_2/test_y.py::t", outcome: "passed"}, one{id: "tests/zz_test.py::t", outcome: "passed"}), log: collected(6)})
	other := checkpointPart("2", runOutput{report: encodeJSON(0, checkpointTest("2", "t", "passed")), log: collected(1)})
	before := checkpointPart("10", runOutput{report: encodeJSON(0, checkpointTest("10", "t", "passed")), log: collected(1)})
	v, _ := parse.judgeParts([]part{before, leading, other})
	var files []string
	for _, test := range v.Tests {
		files = append(files, strings.TrimPrefix(test.File, "tests/")+"::"+test.ID)
	}
	want := []string{"a_test.py::t", "sub/test_x.py::t", "test_checkpoint_1.py::t", "test_checkpoint_1.py::s", "test_checkpoint_10.py::t",
		"test_checkpoint_2/test_y.py::t", "test_checkpoint_2.py::t", "zz_test.py::t"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// script lists the actions of a test file that a simulated pytest loads and runs.
type script struct {
	file  string
	load  string   // "", "skip", "error", or how loading ends the run
	tests []string // outcomes, or how a test ends the run
}

// simulate imitates pytest's exit code, output and reports.
func simulate(scripts []script, conftest string, goOn bool) runOutput {
	begun := []byte("=== test session starts ===\n")
	switch conftest {
	case "error":
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: 4}}, log: []byte("ImportError while loading conftest '/w/tests/conftest.py'.\nE   ImportError: x\n")}
	case "usage":
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: 4}}, log: []byte("ERROR: usage: pytest\npytest: error: unrecognized arguments: --entrypoint=x\n")}
	}
	scripts = slices.Clone(scripts)
	slices.SortFunc(scripts, func(a, b script) int { return comparePaths(a.file, b.file) })
	n, hook, failed := 0, false, false
	var broken []map[string]any
	for _, s := range scripts {
		switch s.load {
		case "":
			n += len(s.tests)
		case "skip":
			broken = append(broken, map[string]any{"nodeid": s.file, "outcome": "skipped", "longrepr": "('" + s.file + "', 1, 'Skipped: no module')"})
		case "error":
			failed = true
			broken = append(broken, map[string]any{"nodeid": s.file, "outcome": "failed", "longrepr": "E   ImportError: " + s.file})
		case "hook": // fails when everything is collected
			n += len(s.tests)
			hook = true
		case "interrupt", "internal":
			return ended(s.load, fmt.Appendf(begun, "collected %d items\n", n), nil)
		default:
			return ended(s.load, begun, nil)
		}
	}
	log := fmt.Appendf(begun, "collected %d items\n", n)
	if hook {
		return ended("internal", log, nil)
	}
	if failed && !goOn {
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, report: withCollectors(encodeJSON(2), broken, n), log: fmt.Appendf(log, "!!! Interrupted: %d errors during collection !!!\n", len(broken))}
	}
	var ran []one
	code := 0
	for _, s := range scripts {
		if s.load != "" {
			continue
		}
		for i, outcome := range s.tests {
			o := one{id: fmt.Sprintf("%s::t%d", s.file, i), outcome: outcome}
			switch outcome {
			case "passed", "skipped":
			case "failed":
				o.failure, code = "assert 0", 1
			default:
				if outcome == "interrupt" || outcome == "exit" || outcome == "internal" {
					o.outcome, o.cut = "passed", true
					ran = append(ran, o)
				}
				return ended(outcome, log, ran)
			}
			ran = append(ran, o)
		}
	}
	switch {
	case failed:
		code = 1
	case n == 0:
		code = 5
	}
	return runOutput{exit: exitFacts{Exit: session.Exit{Code: code}}, report: withCollectors(encodeJSON(code, ran...), broken, n), log: append(log, summaryLine(ran...)...)}
}

// ended holds the files of a run that ends early.
func ended(how string, log []byte, ran []one) runOutput {
	switch how {
	case "kill":
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed"}}, log: log}
	case "hang":
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed", TimedOut: true, Limit: 60}}, log: log}
	case "vanish": // os._exit(0)
		return runOutput{log: log}
	}
	code := map[string]int{"interrupt": 2, "internal": 3, "exit": 7}[how]
	return runOutput{exit: exitFacts{Exit: session.Exit{Code: code}}, report: withCollectors(encodeJSON(code, ran...), nil, 0), log: append(log, "!!! "+how+" !!!\n"...)}
}

func withCollectors(reported []byte, broken []map[string]any, collected int) []byte {
	var all map[string]any
	if err := json.Unmarshal(reported, &all); err != nil {
		panic(err)
	}
	all["collectors"], all["summary"] = broken, map[string]any{"collected": collected}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return b
}

var ends = []string{"kill", "hang", "vanish", "interrupt", "internal", "exit"}

// randomScripts returns test files of checkpoints, each for its part, and common ones for the part at lead.
func randomScripts(r *rand.Rand) (own, common []script, lead int) {
	trouble := r.IntN(3) // none, little, much
	random := func(file string) script {
		s := script{file: file}
		for range r.IntN(4) {
			s.tests = append(s.tests, []string{"passed", "passed", "passed", "failed", "skipped"}[r.IntN(5)])
		}
		if r.IntN(8) == 0 {
			s.load = "skip"
		}
		if r.IntN(8) < trouble {
			s.load = "error"
		}
		if r.IntN(12) < trouble {
			s.load = []string{"kill", "hang", "vanish", "interrupt", "internal", "hook"}[r.IntN(6)]
			s.tests = append(s.tests, "passed")
		}
		if r.IntN(6) < trouble {
			s.tests = append(s.tests, ends[r.IntN(len(ends))], "passed")
		}
		return s
	}
	for i := range 1 + r.IntN(4) {
		own = append(own, random(fmt.Sprintf("tests/test_checkpoint_%d.py", i+1)))
	}
	for _, file := range []string{"tests/a_test.py", "tests/sub/test_x.py", "tests/test_checkpoint_2/test_y.py", "tests/zz_test.py"} {
		if r.IntN(4) == 0 {
			common = append(common, random(file))
		}
	}
	return own, common, r.IntN(len(own))
}

// calm removes actions from a test file that end the run of others.
func (s *script) calm() {
	if s.load != "error" && s.load != "skip" {
		s.load = ""
	}
	s.tests = slices.DeleteFunc(s.tests, func(outcome string) bool { return slices.Contains(ends, outcome) })
}

// judgeBoth judges one run of all files, and a part for each.
func judgeBoth(own, common []script, lead int, conftest string, goOn bool) (wholeV, partsV verdict.Checkpoint, wholeM, partsM verdict.Measurements) {
	wholeV, wholeM = parse.judge(simulate(slices.Concat(own, common), conftest, goOn))
	var parts []part
	for i, s := range own {
		ran := []script{s}
		if i == lead {
			ran = append(ran, common...)
		}
		parts = append(parts, newPart(s.file, simulate(ran, conftest, goOn)))
	}
	partsV, partsM = parse.judgeParts(parts)
	return wholeV, partsV, wholeM, partsM
}

// TestMergedIsWhole: the merged results of parts equal those of one run, for any behaviour of the checkpoints' files.
// If a part with several files ends early, it cannot tell how far one run would have come.
func TestMergedIsWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	classes := map[verdict.Class]int{}
	for range 1500 {
		own, common, lead := randomScripts(r)
		if len(common) > 0 {
			own[lead].calm()
		}
		for i := range common {
			common[i].calm()
		}
		conftest := ""
		if r.IntN(50) == 0 {
			conftest = []string{"error", "usage"}[r.IntN(2)]
		}
		goOn := r.IntN(5) == 0
		wholeV, partsV, wholeM, partsM := judgeBoth(own, common, lead, conftest, goOn)
		classes[wholeV.Class]++
		if len(common) > 0 && wholeV.Class == verdict.PytestFailed {
			// Nor the numbers of tests that were collected from its files before.
			partsV.Collected = wholeV.Collected
		}
		if diff := cmp.Diff(wholeV, partsV); diff != "" {
			t.Fatalf("%+v, common %+v, conftest %q, go on %v (-whole +parts)\n%s", own, common, conftest, goOn, diff)
		}
		if wholeV.Class != verdict.CollectionError && !strings.HasSuffix(partsM.Message, wholeM.Message) {
			t.Fatalf("%+v: message %q, of one run %q", own, partsM.Message, wholeM.Message)
		}
	}
	for _, class := range []verdict.Class{verdict.Judged, verdict.CollectionError, verdict.NoTests, verdict.NoReport, verdict.Killed, verdict.SessionTimeout, verdict.PytestFailed} {
		if classes[class] < 10 {
			t.Errorf("only %d of class %s: %v", classes[class], class, classes)
		}
	}
}

// TestMergedIsNeverBetter: no error is lost, even if parts cannot tell which of two comes first.
func TestMergedIsNeverBetter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1500 {
		own, common, lead := randomScripts(r)
		wholeV, partsV, _, _ := judgeBoth(own, common, lead, "", r.IntN(5) == 0)
		if (partsV.Class == verdict.Judged) != (wholeV.Class == verdict.Judged) {
			t.Fatalf("%+v, common %+v: %s, of one run %s", own, common, partsV.Class, wholeV.Class)
		}
		if wholeV.Class == verdict.Judged && *wholeV.ExitCode != *partsV.ExitCode {
			t.Fatalf("%+v, common %+v: exit code %d, of one run %d", own, common, *partsV.ExitCode, *wholeV.ExitCode)
		}
	}
}

// FuzzMerge: for any outputs of two runs, the merged verdict is at most as good as each allows.
func FuzzMerge(f *testing.F) {
	f.Add(encodeJSON(1, checkpointTest("1", "a", "failed")), collected(1), 1, encodeJSON(0, checkpointTest("2", "b", "passed")), collected(1), 0)
	f.Add([]byte(nil), collected(1), 137, encodeJSON(0, checkpointTest("2", "b", "passed")), collected(1), 0)
	f.Add(encodeJSON(5), []byte("collected 0 items"), 5, encodeJSON(2), []byte("during collection"), 2)
	f.Add([]byte(`{"exitcode":0,"tests":[{"nodeid":"::"}],"collectors":[{"result":null}],"summary":{"x":1}}`), []byte(""), 0, encodeJSON(3), []byte(""), 3)
	f.Fuzz(func(t *testing.T, report1, log1 []byte, code1 int, report2, log2 []byte, code2 int) {
		parts := []part{checkpointPart("1", runOutput{exit: exitFacts{Exit: session.Exit{Code: code1}}, report: report1, log: log1}), checkpointPart("2", runOutput{exit: exitFacts{Exit: session.Exit{Code: code2}}, report: report2, log: log2})}
		v, m := parse.judgeParts(parts)
		tests := 0
		skipped := map[string]bool{}
		for _, p := range parts {
			if v.Class == verdict.Judged && p.severity() != 0 && p.class != verdict.Judged {
				t.Errorf("judged, although a part is %s", p.class)
			}
			if v.Class == verdict.Judged && p.exit.Code == exitTestsFailed && *v.ExitCode != exitTestsFailed {
				t.Errorf("exit code %d, although a part ended with 1", *v.ExitCode)
			}
			tests += len(p.tests)
			for _, t := range p.skipped {
				skipped[t.name] = true
			}
		}
		if v.Class == verdict.Judged {
			tests += len(skipped)
		}
		if len(v.Tests) > tests || v.Class == verdict.Judged && len(v.Tests) != tests || len(m.Tests) != len(v.Tests) {
			t.Errorf("class %s with %d of %d tests, %d measured", v.Class, len(v.Tests), tests, len(m.Tests))
		}
		if v.Class == verdict.Judged == (m.Message != "") {
			t.Errorf("class %s with message %q", v.Class, m.Message)
		}
		if _, err := joinReports(parts); err != nil {
			t.Error(err)
		}
	})
}
