package pytest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// one is a test of a synthetic report.
type one struct {
	id       string // node id
	stages   string // with their outcomes; "" means passes
	keywords []string
	seconds  float64
	message  string // of stages that did not pass
}

const (
	passes = "setup=passed call=passed teardown=passed"
	fails  = "setup=passed call=failed teardown=passed"
)

// encode writes a report as the plugin does.
func encode(code int, tests ...one) []byte {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, o := range tests {
		stages := strings.Fields(cmp.Or(o.stages, passes))
		for _, stage := range stages {
			name, outcome, _ := strings.Cut(stage, "=")
			l := line{NodeID: o.id, Stage: name, Outcome: outcome, Seconds: o.seconds / float64(len(stages))}
			if name == "setup" || name == "subtest" {
				l.Keywords = o.keywords
			}
			if outcome != "passed" {
				l.Message = o.message
			}
			_ = lines.Encode(l)
		}
	}
	_ = lines.Encode(line{End: &end{Exit: code, Collected: len(tests)}})
	return b.Bytes()
}

// collectors returns a report that begins with a collector that did not pass.
func collectors(outcome, id, message string, report []byte) []byte {
	l, _ := json.Marshal(line{NodeID: id, Stage: "collect", Outcome: outcome, Message: message})
	return append(append(l, '\n'), report...)
}

// collected returns a log without a beginning and an end that pytest writes in any case.
func collected(n int) []byte {
	return fmt.Appendf(nil, "collecting ... collected %d items\n\n...\n", n)
}

var parse = Parse{Grouping: Grouping{
	Checkpoint: "checkpoint_2",
	Files:      map[string]string{"test_checkpoint_1.py": "checkpoint_1", "test_checkpoint_2.py": "checkpoint_2", "test_checkpoint_3.py": "checkpoint_3", "special.py": "checkpoint_1"},
	Custom:     map[string]verdict.Group{"slow": verdict.Functionality, "crit": verdict.Core, "hostile": verdict.ErrorGroup},
}}

const current = "tests/test_checkpoint_2.py"

// TestHowItEnded covers every end of a run.
func TestHowItEnded(t *testing.T) {
	pass := one{id: current + "::test_a"}
	fail := one{id: current + "::test_b", stages: fails, message: "assert 1 == 2"}
	good := one{id: "tests/test_good.py::test_g"}
	exit := func(code int) exitFacts { return exitFacts{Exit: session.Exit{Code: code}} }
	const missing = "tests/x.py:1: in <module>\n    import kv\nE   ModuleNotFoundError: No module named 'kv'"
	early := bytes.Replace(encode(0, pass), []byte(`"early":""`), []byte(`"early":"stopping after 1 failures"`), 1)
	for _, try := range []struct {
		name      string
		left      runOutput
		class     verdict.Class
		collected int
		infra     bool
		tests     int
		message   string // a part of it
	}{
		{name: "all pass", left: runOutput{stages: encode(0, pass, good)}, class: verdict.Judged, collected: 2, tests: 2},
		{name: "some fail", left: runOutput{exit: exit(1), stages: encode(1, pass, fail), log: collected(5)}, class: verdict.Judged, collected: 2, tests: 2},
		{name: "one file cannot be imported", left: runOutput{exit: exit(2), stages: collectors("failed", current, missing, encode(2))},
			class: verdict.CollectionError, infra: true, message: "pytest could not collect the tests: tests/test_checkpoint_2.py: ModuleNotFoundError: No module named 'kv'"},
		{name: "the entry's module is not importable",
			left:  runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}, Outside: "kv"}, stages: collectors("failed", current, missing, encode(2))},
			class: verdict.CollectionError, infra: true, message: `No module named 'kv', which is the solution's (hint: write import = "separate" in the pytest block)`},
		{name: "continued after a collection error", left: runOutput{exit: exit(1), stages: collectors("failed", "tests/t.py", "E   ImportError: x", encode(1, pass))},
			class: verdict.CollectionError, collected: 1, tests: 1, message: "tests/t.py: ImportError: x"},
		{name: "a collection error without a report", left: runOutput{exit: exit(2), log: []byte("collected 0 items / 1 error\nE   SyntaxError: invalid syntax\n!!! Interrupted: 1 error during collection !!!\n")},
			class: verdict.PytestFailed, infra: true, message: "pytest was interrupted: SyntaxError: invalid syntax"},
		{name: "no test functions", left: runOutput{exit: exit(5), stages: encode(5)}, class: verdict.NoTests, infra: true, message: "pytest found no tests"},
		{name: "no tests, without a report", left: runOutput{exit: exit(5)}, class: verdict.PytestFailed, infra: true, message: "pytest ended with exit code 5"},
		{name: "unknown option", left: runOutput{exit: exit(4), log: []byte("ERROR: usage: pytest\npytest: error: unrecognized arguments: --entrypoint=x\n")},
			class: verdict.PytestFailed, infra: true, message: "unrecognized arguments: --entrypoint=x"},
		{name: "conftest cannot be imported", left: runOutput{exit: exit(4), log: []byte("ImportError while loading conftest '/w/tests/conftest.py'.\nE   ModuleNotFoundError: No module named 'kv'\n")},
			class: verdict.CollectionError, infra: true, message: "conftest.py could not be loaded: ModuleNotFoundError"},
		{name: "conftest ends pytest", left: runOutput{exit: exit(1), log: []byte("Traceback\nSystemExit: 1\n")}, class: verdict.NoReport, infra: true, message: "pytest ended with exit code 1, without a valid report: pytest wrote no report"},
		{name: "interrupted in a test", left: runOutput{exit: exit(2), stages: encode(2, pass, one{id: current + "::test_i", stages: "setup=passed"}), log: []byte("!!! KeyboardInterrupt !!!\n")},
			class: verdict.PytestFailed, collected: 2, infra: true, tests: 2, message: "pytest was interrupted"},
		{name: "pytest.exit(7)", left: runOutput{exit: exit(7), stages: encode(7, pass), log: []byte("!!! _pytest.outcomes.Exit: bye !!!\n")},
			class: verdict.PytestFailed, collected: 1, tests: 1, message: "pytest ended with exit code 7: !!! _pytest.outcomes.Exit: bye !!!"},
		{name: "-x", left: runOutput{stages: early}, class: verdict.PytestFailed, collected: 1, tests: 1, message: "pytest ended before it had run all tests: stopping after 1 failures"},
		{name: "session.shouldfail", left: runOutput{exit: exit(1), stages: bytes.Replace(early, []byte(`"exit":0`), []byte(`"exit":1`), 1)}, class: verdict.PytestFailed, collected: 1, tests: 1, message: "stopping after 1 failures"},
		{name: "internal error", left: runOutput{exit: exit(3), stages: encode(3, pass)}, class: verdict.PytestFailed, collected: 1, infra: true, tests: 1, message: "pytest had an internal error"},
		{name: "os._exit(0)", left: runOutput{log: collected(3)}, class: verdict.NoReport, collected: 3, message: "exit code 0, without a valid report"},
		{name: "killed", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed"}}, stages: encode(0, pass), log: collected(3)}, class: verdict.Killed, collected: 3, message: "pytest was ended by a signal: killed"},
		{name: "killed for memory", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed", MemoryLimit: 64 << 20}}, stages: encode(0, pass), log: collected(3)}, class: verdict.Killed, collected: 3, message: "killed: out of memory, the limit is 64 MiB"},
		{name: "killed for memory below uvx", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 137, MemoryLimit: 3 << 29}}, log: collected(3)}, class: verdict.Killed, collected: 3, message: "killed: out of memory, the limit is 1.5 GiB"},
		{name: "a child killed for memory", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 0, MemoryLimit: 64 << 20}}, stages: encode(0, pass)}, class: verdict.Judged, collected: 1, tests: 1, message: "something that the tests started was killed: out of memory, the limit is 64 MiB"},
		{name: "killed below uvx", left: runOutput{exit: exit(137), stages: encode(0, pass), log: collected(3)}, class: verdict.Killed, collected: 3, message: "pytest was ended by signal 9"},
		{name: "session limit", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed", TimedOut: true, Limit: 2.5}}, stages: encode(0, pass), log: collected(3)}, class: verdict.SessionTimeout, collected: 3, message: "pytest exceeded the session limit of 2.5s"},
		{name: "another exit code", left: runOutput{exit: exit(1), stages: encode(0, pass), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "it has exit code 0, but pytest ended with 1"},
		{name: "no failure", left: runOutput{exit: exit(1), stages: encode(1, pass), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "it has no failure, but pytest ended with exit code 1"},
		{name: "no end", left: runOutput{stages: encode(0, pass)[:bytes.Index(encode(0, pass), []byte(`{"nodeid":""`))], log: collected(1)}, class: verdict.NoReport, collected: 1, message: "it has no end"},
		{name: "truncated", left: runOutput{stages: encode(0, pass)[:40], log: collected(1)}, class: verdict.NoReport, collected: 1, message: "unexpected end of JSON input"},
		{name: "more after the end", left: runOutput{stages: append(encode(0, pass), encode(0, good)...), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "it continues after its end"},
		{name: "without tests", left: runOutput{stages: encode(0)}, class: verdict.NoTests, infra: true, message: "the report has no tests"},
		{name: "current file is missing", left: runOutput{stages: encode(0, one{id: "tests/test_checkpoint_1.py::test_a"})}, class: verdict.Judged, collected: 1, tests: 1},
	} {
		t.Run(try.name, func(t *testing.T) {
			v, m := parse.judge(try.left)
			if v.Class != try.class || v.Collected != try.collected || v.InfrastructureFailure != try.infra || len(v.Tests) != try.tests {
				t.Errorf("got class %s, collected %d, infrastructure failure %v, %d tests", v.Class, v.Collected, v.InfrastructureFailure, len(v.Tests))
			}
			if silent := v.Class == verdict.Judged && try.left.exit.MemoryLimit == 0; silent != (m.Message == "") || !strings.Contains(m.Message, try.message) {
				t.Errorf("message %q, want %q", m.Message, try.message)
			}
			if len(m.Tests) != len(v.Tests) || *v.ExitCode != try.left.exit.Code {
				t.Errorf("%d measurements, exit code %d", len(m.Tests), *v.ExitCode)
			}
		})
	}
}

// A test fails by any stage or subtest that fails, and passes if all its stages did.
func TestStatuses(t *testing.T) {
	for _, try := range []struct {
		name, stages string
		want         verdict.TestStatus
	}{
		{"pass", passes, verdict.TestPassed},
		{"assertion", fails, verdict.TestFailed},
		{"set-up raises", "setup=failed teardown=passed", verdict.TestError},
		{"teardown raises after a pass", "setup=passed call=passed teardown=failed", verdict.TestError},
		{"teardown raises after a failure", "setup=passed call=failed teardown=failed", verdict.TestError},
		{"teardown raises after a skip", "setup=passed call=skipped teardown=failed", verdict.TestError},
		{"skip in the test, or an expected failure", "setup=passed call=skipped teardown=passed", verdict.TestSkipped},
		{"skip mark, and no parameters", "setup=skipped teardown=passed", verdict.TestSkipped},
		{"skip in the teardown", "setup=passed call=passed teardown=skipped", verdict.TestSkipped},
		{"an outcome of a plugin", "setup=passed call=splendid teardown=passed", verdict.TestError},
		// A test without a known end is passed for SlopCodeBench's runner.
		{"cut off in the set-up", "setup=passed", verdict.TestError},
		{"cut off in the call", "setup=passed teardown=passed", verdict.TestError},
		{"cut off in the teardown", "setup=passed call=passed", verdict.TestError},
		{"run again", "setup=passed call=rerun " + passes, verdict.TestPassed},
		{"set up again", "setup=rerun " + passes, verdict.TestPassed},
		{"run again, and failed", "setup=passed call=rerun " + fails, verdict.TestFailed},
		{"cut off when it ran again", "setup=passed call=rerun setup=passed", verdict.TestError},
		{"twice, failed once", fails + " " + passes, verdict.TestFailed},
		{"twice, the second cut off", passes + " setup=passed", verdict.TestError},
		{"a subtest failed, and the test ran again", "subtest=failed setup=passed call=rerun " + passes, verdict.TestPassed},
		{"a subtest was skipped, and the test ran again", "subtest=skipped setup=passed call=rerun teardown=passed " + passes, verdict.TestPassed},
		{"a subtest failed again", "subtest=failed setup=passed call=rerun subtest=failed " + passes, verdict.TestFailed},
		{"twice, failed once, then ran again", fails + " setup=passed call=rerun " + passes, verdict.TestFailed},
		{"a subtest failed", "setup=passed subtest=passed subtest=failed subtest=passed call=passed teardown=passed", verdict.TestFailed},
		{"subtests passed", "setup=passed subtest=passed subtest=passed call=passed teardown=passed", verdict.TestPassed},
		{"a subtest was skipped", "setup=passed subtest=passed subtest=skipped call=passed teardown=passed", verdict.TestSkipped},
		{"subtests passed, and the call is missing", "setup=passed subtest=passed teardown=passed", verdict.TestError},
		{"its worker of pytest-xdist crashed", "setup=passed ???=failed", verdict.TestFailed},
	} {
		code := exitOK
		if try.want == verdict.TestFailed || try.want == verdict.TestError {
			code = exitTestsFailed
		}
		v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: code}}, stages: encode(code, one{id: current + "::t", stages: try.stages})})
		if len(v.Tests) != 1 || v.Tests[0].Status != try.want {
			t.Errorf("%s: %+v, want %s: %s", try.name, v.Tests, try.want, m.Message)
		}
		if cut := strings.HasPrefix(try.name, "cut off"); cut && m.Tests[0].Message != "the test did not run to its end" {
			t.Errorf("%s: %q", try.name, m.Tests[0].Message)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, try := range []struct{ nodeid, file, id, checkpoint string }{
		{"tests/test_checkpoint_2.py::test_x", "tests/test_checkpoint_2.py", "test_x", "checkpoint_2"},
		{"tests/test_checkpoint_1.py::TestK::test_x[a::b[c]/d e]", "tests/test_checkpoint_1.py", "TestK::test_x[a::b[c]/d e]", "checkpoint_1"},
		{"tests/sub/test_nested.py::test_x", "tests/sub/test_nested.py", "test_x", "nested"},
		{"tests/foo_test.py::test_x", "tests/foo_test.py", "test_x", "checkpoint_2"},
		{"tests/special.py::test_x", "tests/special.py", "test_x", "checkpoint_1"},
		{"tests/test_checkpoint_3.py::test_x", "tests/test_checkpoint_3.py", "test_x", "checkpoint_3"},
		{"test_x", "", "test_x", "checkpoint_2"},
		{"tests/test_data/helper.py::test_x", "tests/test_data/helper.py", "test_x", "checkpoint_2"},
	} {
		v, _ := parse.judge(runOutput{stages: encode(0, one{id: try.nodeid})})
		got := v.Tests[0]
		if got.File != try.file || got.ID != try.id || got.Checkpoint != try.checkpoint {
			t.Errorf("%s: %+v", try.nodeid, got)
		}
	}
}

func TestGroups(t *testing.T) {
	const prior, later = "tests/test_checkpoint_1.py", "tests/test_checkpoint_3.py"
	for _, try := range []struct {
		file     string
		keywords string
		want     verdict.Group
	}{
		{current, "", verdict.Core},
		{current, "test_x test_checkpoint_2.py tests pytestmark", verdict.Core},
		{current, "error", verdict.ErrorGroup},
		{current, "regression", verdict.Regression},
		{current, "functionality", verdict.Functionality},
		{current, "regression error", verdict.ErrorGroup},
		{current, "slow", verdict.Functionality},
		{current, "slow crit", verdict.Functionality}, // the nearest decorator comes first
		{current, "crit slow", verdict.Core},
		{current, "functionality crit", verdict.Core}, // custom before the built-in
		{current, "hostile functionality", verdict.ErrorGroup},
		{current, "slow error", verdict.ErrorGroup},
		{prior, "", verdict.Regression},
		{prior, "error", verdict.Regression}, // another checkpoint's, with any mark
		{prior, "crit", verdict.Regression},
		{later, "", verdict.Regression},
	} {
		v, _ := parse.judge(runOutput{stages: encode(0, one{id: try.file + "::t", keywords: strings.Fields(try.keywords)})})
		if got := v.Tests[0].Group; got != try.want {
			t.Errorf("%s with %q: %s, want %s", try.file, try.keywords, got, try.want)
		}
	}
	// A custom marker can have the name of the built-in one, and then counts.
	p := Parse{Grouping: Grouping{Checkpoint: "c", Custom: map[string]verdict.Group{"functionality": verdict.ErrorGroup}}}
	v, _ := p.judge(runOutput{stages: encode(0, one{id: "test_c.py::t", keywords: []string{"functionality"}})})
	if got := v.Tests[0].Group; got != verdict.ErrorGroup {
		t.Errorf("a marker called functionality: %s", got)
	}
}

func TestMeasurements(t *testing.T) {
	stages := strings.NewReplacer("\t", "", "LONG", strings.Repeat("x", 3*maxMessage)).Replace(`{"nodeid":"t.py::call","stage":"setup","outcome":"passed","seconds":0.5}
		{"nodeid":"t.py::call","stage":"call","outcome":"failed","seconds":0.25,"message":"assert 0"}
		{"nodeid":"t.py::call","stage":"teardown","outcome":"failed","seconds":0.25,"message":"later"}
		{"nodeid":"t.py::again","stage":"setup","outcome":"rerun","seconds":9}
		{"nodeid":"t.py::again","stage":"setup","outcome":"skipped","seconds":1,"message":"Skipped: needs a redis-server (6)"}
		{"nodeid":"t.py::long","stage":"call","outcome":"failed","message":"LONG"}
		{"end":{"exit":1,"collected":3}}`)
	v, m := parse.judge(runOutput{timing: session.Timing{Seconds: 1.5}, exit: exitFacts{Exit: session.Exit{Code: 1}}, stages: []byte(stages)})
	if m.DurationMS != 1500 || v.Class != verdict.Judged || len(m.Tests) != 3 {
		t.Fatalf("%v ms, %s: %s", m.DurationMS, v.Class, m.Message)
	}
	var got []string
	for _, test := range m.Tests[:2] {
		got = append(got, fmt.Sprintf("%v %s", test.DurationMS, test.Message))
	}
	if want := []string{"1000 assert 0", "1000 needs a redis-server (6)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(m.Tests[2].Message); n > maxMessage+20 {
		t.Errorf("a message of %d bytes is kept", n)
	}
}

// parseAll runs the task on outputs of a run and returns its own.
func parseAll(t *testing.T, p *Parse, l runOutput) map[string]string {
	t.Helper()
	store := cache.NewMemory()
	g := graph.New()
	id := g.Add(graph.Node{Addr: "run", Kind: "run", Task: leaving{l}})
	parsed := g.Add(graph.Node{Addr: "parse", Kind: "parse", Task: p, Deps: []graph.Dep{{On: id, As: "pytest",
		Outputs: []string{OutputExit, OutputTiming, OutputStages, OutputLog}}}})
	r, err := g.Execute(t.Context(), []graph.ID{parsed}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range r.Status(parsed).Outputs {
		b, err := cache.ReadBlob(t.Context(), store, o.Digest, -1)
		if err != nil {
			t.Fatal(err)
		}
		got[o.Name] = string(b)
	}
	return got
}

// leaving is a Run that left l.
type leaving struct{ runOutput }

func (leaving) Describe(context.Context, *graph.Manifest) error { return nil }

func (l leaving) Run(ctx context.Context, w *graph.Work) (o graph.Outcome, err error) {
	keep := func(name string, b []byte) {
		d, _ := cache.PutBytes(ctx, w.Store, b)
		o.Outputs = append(o.Outputs, cache.Output{Name: name, Digest: d})
	}
	exit, _ := json.Marshal(l.exit)
	took, _ := json.Marshal(l.timing)
	keep(OutputExit, exit)
	keep(OutputTiming, took)
	keep(OutputStages, l.stages)
	keep(OutputLog, l.log)
	return o, nil
}

// TestVerdictsAreTheFactsAlone: two runs that differ in nothing but times and
// wording have verdicts of the same bytes, which is where a wave stops.
func TestVerdictsAreTheFactsAlone(t *testing.T) {
	run := func(seconds float64, failure string) runOutput {
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, timing: session.Timing{Seconds: seconds},
			stages: encode(1, one{id: current + "::a", seconds: seconds}, one{id: current + "::b", stages: fails, seconds: seconds, message: failure}),
			log:    append(collected(2), failure...)}
	}
	a, b := parseAll(t, &parse, run(1, "at 0x7f01")), parseAll(t, &parse, run(2, "at 0x7f02"))
	if a[OutputVerdicts] != b[OutputVerdicts] {
		t.Errorf("verdicts differ: %s", diff.Diff(a[OutputVerdicts], b[OutputVerdicts]))
	}
	if a[OutputMeasurements] == b[OutputMeasurements] {
		t.Error("measurements do not differ")
	}
	const want = `{"name":"checkpoint_2","passed":false,"policy":"","vacuous":false,"class":"judged","exit_code":1,"collected":2,"infrastructure_failure":false,` +
		`"groups":{"core":{"passed":0,"total":0},"functionality":{"passed":0,"total":0},"regression":{"passed":0,"total":0},"error":{"passed":0,"total":0}},"tests":[` +
		`{"id":"a","file":"tests/test_checkpoint_2.py","checkpoint":"checkpoint_2","group":"core","status":"passed"},` +
		`{"id":"b","file":"tests/test_checkpoint_2.py","checkpoint":"checkpoint_2","group":"core","status":"failed"}]}`
	if a[OutputVerdicts] != want {
		t.Errorf("got %s", a[OutputVerdicts])
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(encode(1, one{id: current + "::a", stages: fails, message: "x"}), collected(1), 1)
	f.Add([]byte("{}\n"+`{"nodeid":"::","stage":"setup","keywords":null}`+"\n"+`{"end":{"exit":0}}`), []byte(""), 0)
	f.Add(collectors("failed", "t.py", "x", encode(2)), []byte("during collection"), 2)
	f.Add([]byte(nil), []byte("collected 99999999999999999999 items"), 1)
	f.Fuzz(func(t *testing.T, stages, log []byte, code int) {
		v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: code}}, stages: stages, log: log})
		if len(v.Tests) != len(m.Tests) {
			t.Errorf("%d verdicts, %d measurements", len(v.Tests), len(m.Tests))
		}
		if v.Class == verdict.Judged && (len(v.Tests) == 0 || code != 0 && code != 1) {
			t.Errorf("judged with exit code %d and %d tests", code, len(v.Tests))
		}
		if v.Class == verdict.Judged == (m.Message != "") {
			t.Errorf("class %s with message %q", v.Class, m.Message)
		}
		for _, test := range v.Tests {
			if !slices.Contains(verdict.Groups[:], test.Group) || test.Status == "" {
				t.Errorf("%+v", test)
			}
		}
	})
}

// A report that a submission writes in pytest's process is rejected, and takes at most a few times its size in memory.
func TestHostileReports(t *testing.T) {
	longtest.Skip(t)
	fill := func(element, end string) []byte {
		return append(bytes.Repeat([]byte(element), (maxReport-1000)/len(element)), end...)
	}
	const last = `{"end":{"exit":0,"collected":5}}`
	ids := &bytes.Buffer{}
	for ids.Len() < maxReport-1000 {
		fmt.Fprintf(ids, "{\"nodeid\":\"%d\"}\n", ids.Len())
	}
	for name, try := range map[string]struct {
		left  runOutput
		class verdict.Class
		words string
	}{
		"tests":           {runOutput{stages: append(ids.Bytes(), last...)}, verdict.NoReport, "it has more than 100000 lines"},
		"fewer tests":     {runOutput{stages: append(bytes.Join(bytes.SplitAfterN(ids.Bytes(), []byte("\n"), maxLines)[:maxLines-1], nil), last...)}, verdict.Judged, ""},
		"empty lines":     {runOutput{stages: fill("\n", last)}, verdict.NoReport, "it has more than 100000 lines"},
		"skipped files":   {runOutput{stages: append(bytes.Repeat([]byte(`{"stage":"collect","outcome":"skipped"}`+"\n"), maxLines), last...)}, verdict.NoTests, ""},
		"keywords":        {runOutput{stages: append([]byte(`{"keywords":[`), fill(`"",`, `""]}`)...)}, verdict.NoReport, "a test has more than 100 keywords"},
		"keywords of all": {runOutput{stages: fill(`{"nodeid":"x","stage":"setup","keywords":[`+strings.Repeat(`"",`, maxKeywords-1)+"\"\"]}\n", last)}, verdict.Judged, ""},
		"seconds":         {runOutput{stages: []byte(`{"nodeid":"x","stage":"call","seconds":1e308}` + "\n" + last)}, verdict.Judged, ""},
		"brackets":        {runOutput{stages: append([]byte(`{"message":[`), fill(`[],`, `[]]}`)...)}, verdict.NoReport, "cannot unmarshal"},
		"brackets beside": {runOutput{stages: append([]byte(`{"x":[`), fill(`[],`, "[]]}\n"+last)...)}, verdict.Judged, ""},
		"depth":           {runOutput{stages: append([]byte(`{"x":`), fill("[", "")...)}, verdict.NoReport, "exceeded max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v, m := parse.judge(try.left)
			runtime.ReadMemStats(&after)
			if v.Class != try.class || !strings.Contains(m.Message, try.words) {
				t.Errorf("%s: %q; want %s: %q", v.Class, m.Message, try.class, try.words)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 20*maxReport {
				t.Errorf("took %d MiB", got>>20)
			}
			encoded, err := json.Marshal(m)
			if err != nil || len(encoded) > maxReport/2 {
				t.Errorf("results of %d bytes, %v", len(encoded), err)
			}
		})
	}
}
