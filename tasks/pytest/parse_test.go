package pytest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// one is a test of a synthetic report.
type one struct {
	id       string // node id
	outcome  string
	keywords []string
	seconds  float64
	failure  string // of the call
	cut      bool   // the report ends before its teardown
}

// encodeJSON writes a report as pytest-json-report does.
func encodeJSON(code int, tests ...one) []byte {
	type object = map[string]any
	all := []object{}
	for _, o := range tests {
		stage := object{"duration": o.seconds / 3, "outcome": "passed"}
		call := maps.Clone(stage)
		if o.failure != "" {
			call["outcome"], call["longrepr"] = "failed", o.failure
		}
		test := object{"nodeid": o.id, "outcome": o.outcome, "keywords": o.keywords, "setup": stage, "call": call, "teardown": stage}
		if o.cut {
			delete(test, "call")
			delete(test, "teardown")
		}
		all = append(all, test)
	}
	b, err := json.Marshal(object{"exitcode": code, "summary": object{"collected": len(tests)}, "tests": all})
	if err != nil {
		panic(err)
	}
	return b
}

// encodeCTRF writes a report as pytest-json-ctrf does.
func encodeCTRF(tests ...one) []byte {
	all := []map[string]any{}
	for _, o := range tests {
		name, _, _ := strings.Cut(o.id, "[")
		file, _, _ := strings.Cut(o.id, "::")
		all = append(all, map[string]any{"name": name, "status": o.outcome, "duration": o.seconds * 1000, "file_path": file, "tags": o.keywords, "message": o.failure})
	}
	b, err := json.Marshal(map[string]any{"results": map[string]any{"tests": all}})
	if err != nil {
		panic(err)
	}
	return b
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
	pass := one{id: current + "::test_a", outcome: "passed"}
	fail := one{id: current + "::test_b", outcome: "failed", failure: "assert 1 == 2"}
	good := one{id: "tests/test_good.py::test_g", outcome: "passed"}
	for _, try := range []struct {
		name      string
		left      runOutput
		class     verdict.Class
		collected int
		infra     bool
		tests     int
		message   string // a part of it
	}{
		{name: "all pass", left: runOutput{report: encodeJSON(0, pass), log: collected(1)}, class: verdict.Judged, collected: 1, tests: 1},
		{name: "some fail", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: encodeJSON(1, pass, fail), ctrf: encodeCTRF(pass), log: collected(2)}, class: verdict.Judged, collected: 2, tests: 2},
		{name: "one file cannot be imported",
			left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}},
				report: []byte(`{"exitcode":2,"summary":{"collected":1},"tests":[],"collectors":[{"nodeid":"","outcome":"passed"},
				{"nodeid":"tests/test_checkpoint_2.py","outcome":"failed","longrepr":"tests/x.py:1: in <module>\n    import kv\nE   ModuleNotFoundError: No module named 'kv'"}]}`),
				log: []byte("collecting ... collected 1 item / 1 error\nInterrupted: 1 error during collection")},
			class: verdict.CollectionError, collected: 1, infra: true, message: "pytest could not collect the tests: tests/test_checkpoint_2.py: ModuleNotFoundError: No module named 'kv'"},
		{name: "the entry's module is not importable",
			left:  runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}, Outside: "kv"}, log: []byte("E   ModuleNotFoundError: No module named 'kv'\n!!! Interrupted: 1 error during collection !!!\n")},
			class: verdict.CollectionError, infra: true, message: `No module named 'kv', which is the solution's (hint: write import = "separate" in the pytest block)`},
		{name: "as above, without a report", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, log: []byte("collected 0 items / 1 error\nE   SyntaxError: invalid syntax\n!!! Interrupted: 1 error during collection !!!\n")},
			class: verdict.CollectionError, infra: true, message: "SyntaxError: invalid syntax"},
		{name: "continued after a collection error",
			left:  runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: []byte(strings.Replace(string(encodeJSON(1, pass)), `"tests"`, `"collectors":[{"nodeid":"tests/t.py","outcome":"failed","longrepr":"E   ImportError: x"}],"tests"`, 1)), log: collected(1)},
			class: verdict.CollectionError, collected: 1, tests: 1, message: "tests/t.py: ImportError: x"},
		{name: "no test functions", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 5}}, report: encodeJSON(5), log: []byte("collected 0 items\n")}, class: verdict.NoTests, infra: true, message: "pytest found no tests"},
		{name: "unknown option", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 4}}, log: []byte("ERROR: usage: pytest\npytest: error: unrecognized arguments: --entrypoint=x\n")},
			class: verdict.PytestFailed, infra: true, message: "unrecognized arguments: --entrypoint=x"},
		{name: "conftest cannot be imported", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 4}}, log: []byte("ImportError while loading conftest '/w/tests/conftest.py'.\nE   ModuleNotFoundError: No module named 'kv'\n")},
			class: verdict.CollectionError, infra: true, message: "conftest.py could not be loaded: ModuleNotFoundError"},
		{name: "conftest ends pytest", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, log: []byte("Traceback\nSystemExit: 1\n")}, class: verdict.NoReport, infra: true, message: "pytest ended with exit code 1, without a valid report: pytest wrote no report"},
		{name: "interrupted in a test", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2, pass, one{id: current + "::test_i", outcome: "passed", cut: true}), log: append(collected(5), "!!! KeyboardInterrupt !!!\n"...)},
			class: verdict.PytestFailed, collected: 5, infra: true, tests: 2, message: "pytest was interrupted"},
		{name: "pytest.exit(7)", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 7}}, report: encodeJSON(7, pass), log: append(collected(5), "!!! _pytest.outcomes.Exit: bye !!!\n"...)},
			class: verdict.PytestFailed, collected: 5, tests: 1, message: "pytest ended with exit code 7: !!! _pytest.outcomes.Exit: bye !!!"},
		{name: "internal error", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 3}}, report: encodeJSON(3, pass), log: collected(2)}, class: verdict.PytestFailed, collected: 2, infra: true, tests: 1, message: "pytest had an internal error"},
		{name: "os._exit(0)", left: runOutput{log: collected(3)}, class: verdict.NoReport, collected: 3, message: "exit code 0, without a valid report"},
		{name: "killed", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed"}}, report: encodeJSON(0, pass), log: collected(3)}, class: verdict.Killed, collected: 3, message: "pytest was ended by a signal: killed"},
		{name: "killed for memory", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed", MemoryLimit: 64 << 20}}, report: encodeJSON(0, pass), log: collected(3)}, class: verdict.Killed, collected: 3, message: "killed: out of memory, the limit is 64 MiB"},
		{name: "killed for memory below uvx", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 137, MemoryLimit: 3 << 29}}, log: collected(3)}, class: verdict.Killed, collected: 3, message: "killed: out of memory, the limit is 1.5 GiB"},
		{name: "a child killed for memory", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 0, MemoryLimit: 64 << 20}}, report: encodeJSON(0, pass), log: collected(1)}, class: verdict.Judged, collected: 1, tests: 1, message: "something that the tests started was killed: out of memory, the limit is 64 MiB"},
		{name: "killed below uvx", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 137}}, report: encodeJSON(0, pass), log: collected(3)}, class: verdict.Killed, collected: 3, message: "pytest was ended by signal 9"},
		{name: "session limit", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: -1, Signal: "killed", TimedOut: true, Limit: 2.5}}, report: encodeJSON(0, pass), log: collected(3)}, class: verdict.SessionTimeout, collected: 3, message: "pytest exceeded the session limit of 2.5s"},
		{name: "report of another run", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: encodeJSON(0, pass), ctrf: encodeCTRF(fail), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "pytest-report.json has exit code 0, but pytest ended with 1"},
		{name: "a report without the end", left: runOutput{report: []byte(`{"tests":[{"nodeid":"a::b","outcome":"passed"}]}`), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "has no exit code"},
		{name: "truncated report", left: runOutput{report: encodeJSON(0, pass)[:40], log: collected(1)}, class: verdict.NoReport, collected: 1, message: "pytest-report.json is not a complete JSON report"},
		{name: "trailing garbage", left: runOutput{report: append(encodeJSON(0, pass), "{"...), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "not a complete JSON report"},
		{name: "truncated report, CTRF whole", left: runOutput{report: encodeJSON(0, pass)[:40], ctrf: encodeCTRF(pass, good), log: collected(2)}, class: verdict.Judged, collected: 2, tests: 2},
		{name: "empty report, CTRF has tests", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: encodeJSON(1), ctrf: encodeCTRF(pass, fail)}, class: verdict.Judged, collected: 2, tests: 2},
		{name: "CTRF lost the failing case", left: runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, ctrf: encodeCTRF(pass), log: collected(2)}, class: verdict.NoReport, collected: 2, message: "ctrf-report.json has 0 failures, but pytest ended with 1"},
		{name: "CTRF of another run", left: runOutput{ctrf: encodeCTRF(fail), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "ctrf-report.json has 1 failures, but pytest ended with 0"},
		{name: "both truncated", left: runOutput{report: []byte("{"), ctrf: []byte("{"), log: collected(1)}, class: verdict.NoReport, collected: 1, message: "pytest-report.json"},
		{name: "CTRF truncated", left: runOutput{ctrf: encodeCTRF(pass)[:20], log: collected(1)}, class: verdict.NoReport, collected: 1, message: "ctrf-report.json is not a complete CTRF report"},
		{name: "reports without tests", left: runOutput{report: encodeJSON(0), ctrf: encodeCTRF()}, class: verdict.NoTests, infra: true, message: "the report has no tests"},
		{name: "current file is missing", left: runOutput{report: encodeJSON(0, one{id: "tests/test_checkpoint_1.py::test_a", outcome: "passed"}), log: collected(1)}, class: verdict.Judged, collected: 1, tests: 1},
		{name: "no line about collecting", left: runOutput{report: encodeJSON(0, pass, good)}, class: verdict.Judged, collected: 2, tests: 2},
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

func TestStatuses(t *testing.T) {
	for outcome, want := range map[string]verdict.TestStatus{
		"passed": verdict.TestPassed, "failed": verdict.TestFailed, "skipped": verdict.TestSkipped, "error": verdict.TestError,
		"xfailed": verdict.TestSkipped, "xpassed": verdict.TestPassed, "rerun": verdict.TestPassed, "": verdict.TestError,
	} {
		v, _ := parse.judge(runOutput{report: encodeJSON(0, one{id: current + "::t", outcome: outcome})})
		if got := v.Tests[0].Status; got != want {
			t.Errorf("json %q: %s, want %s", outcome, got, want)
		}
	}
	for outcome, want := range map[string]verdict.TestStatus{
		"passed": verdict.TestPassed, "failed": verdict.TestFailed, "skipped": verdict.TestSkipped, "pending": verdict.TestSkipped, "other": verdict.TestError, "": verdict.TestError,
	} {
		code := 0
		if want == verdict.TestFailed || want == verdict.TestError {
			code = 1
		}
		v, _ := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: code}}, ctrf: encodeCTRF(one{id: current + "::t", outcome: outcome})})
		if len(v.Tests) != 1 || v.Tests[0].Status != want {
			t.Errorf("ctrf %q: %+v, want %s", outcome, v.Tests, want)
		}
	}
	// A test passes unless a phase failed or was cut off.
	v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2, one{id: current + "::t", outcome: "passed", cut: true})})
	if v.Tests[0].Status != verdict.TestError || m.Tests[0].Message != "the test did not run to its end" {
		t.Errorf("cut off: %+v, %+v", v.Tests, m.Tests)
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
		v, _ := parse.judge(runOutput{report: encodeJSON(0, one{id: try.nodeid, outcome: "passed"})})
		got := v.Tests[0]
		if got.File != try.file || got.ID != try.id || got.Checkpoint != try.checkpoint {
			t.Errorf("%s: %+v", try.nodeid, got)
		}
	}
	v, _ := parse.judge(runOutput{ctrf: encodeCTRF(one{id: "tests/test_checkpoint_1.py::TestK::test_x[1]", outcome: "passed"})})
	if got := v.Tests[0]; got.File != "tests/test_checkpoint_1.py" || got.ID != "TestK::test_x" || got.Checkpoint != "checkpoint_1" {
		t.Errorf("ctrf: %+v", got)
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
		v, _ := parse.judge(runOutput{report: encodeJSON(0, one{id: try.file + "::t", outcome: "passed", keywords: strings.Fields(try.keywords)})})
		if got := v.Tests[0].Group; got != try.want {
			t.Errorf("%s with %q: %s, want %s", try.file, try.keywords, got, try.want)
		}
	}
	// A custom marker can have the name of the built-in one, and then counts.
	p := Parse{Grouping: Grouping{Checkpoint: "c", Custom: map[string]verdict.Group{"functionality": verdict.ErrorGroup}}}
	v, _ := p.judge(runOutput{report: encodeJSON(0, one{id: "test_c.py::t", outcome: "passed", keywords: []string{"functionality"}})})
	if got := v.Tests[0].Group; got != verdict.ErrorGroup {
		t.Errorf("a marker called functionality: %s", got)
	}
}

func TestMeasurements(t *testing.T) {
	l := runOutput{timing: session.Timing{Seconds: 1.5}, exit: exitFacts{Exit: session.Exit{Code: 1}}, report: []byte(`{"exitcode":1,"tests":[
		{"nodeid":"t.py::call","outcome":"failed","setup":{"duration":0.5,"outcome":"passed"},"call":{"duration":0.25,"outcome":"failed","longrepr":"assert 0"},"teardown":{"duration":0.25,"outcome":"failed","longrepr":"later"}},
		{"nodeid":"t.py::setup","outcome":"error","setup":{"duration":1,"outcome":"failed","longrepr":"","crash":{"path":"/w/t.py","lineno":3,"message":"boom"}}},
		{"nodeid":"t.py::teardown","outcome":"error","setup":{"outcome":"passed"},"call":{"outcome":"passed"},"teardown":{"outcome":"failed","longrepr":{"reason":"x"}}},
		{"nodeid":"t.py::nothing","outcome":"failed"},
		{"nodeid":"t.py::long","outcome":"failed","call":{"outcome":"failed","longrepr":"` + strings.Repeat("x", 3*maxMessage) + `"}}]}`)}
	v, m := parse.judge(l)
	if m.DurationMS != 1500 || v.Class != verdict.Judged {
		t.Errorf("%v ms, %s", m.DurationMS, v.Class)
	}
	var got []string
	for _, test := range m.Tests[:4] {
		got = append(got, fmt.Sprintf("%v %s", test.DurationMS, test.Message))
	}
	if want := []string{"1000 assert 0", "1000 /w/t.py:3\nboom", `0 {"reason":"x"}`, "0 "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(m.Tests[4].Message); n > maxMessage+20 {
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
		Outputs: []string{OutputExit, OutputTiming, OutputReport, OutputCTRF, OutputLog}}}})
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
	if l.report != nil {
		keep(OutputReport, l.report)
	}
	if l.ctrf != nil {
		keep(OutputCTRF, l.ctrf)
	}
	keep(OutputLog, l.log)
	return o, nil
}

// TestVerdictsAreTheFactsAlone: two runs that differ in nothing but times and
// wording have verdicts of the same bytes, which is where a wave stops.
func TestVerdictsAreTheFactsAlone(t *testing.T) {
	run := func(seconds float64, failure string) runOutput {
		return runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, timing: session.Timing{Seconds: seconds},
			report: encodeJSON(1, one{id: current + "::a", outcome: "passed", seconds: seconds}, one{id: current + "::b", outcome: "failed", seconds: seconds, failure: failure}),
			log:    append(collected(2), failure...)}
	}
	a, b := parseAll(t, &parse, run(1, "at 0x7f01")), parseAll(t, &parse, run(2, "at 0x7f02"))
	if a[OutputVerdicts] != b[OutputVerdicts] {
		t.Errorf("verdicts differ: %s", cmp.Diff(a[OutputVerdicts], b[OutputVerdicts]))
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
	f.Add(encodeJSON(1, one{id: current + "::a", outcome: "failed", failure: "x"}), encodeCTRF(one{id: "a", outcome: "passed"}), collected(1), 1)
	f.Add([]byte(`{"exitcode":0,"tests":[{"nodeid":"::","keywords":null,"call":{"longrepr":{}}}]}`), []byte(`{"results":null}`), []byte(""), 0)
	f.Add([]byte(`{"exitcode":2,"collectors":[{"outcome":"failed","longrepr":[1]}]}`), []byte("null"), []byte("during collection"), 2)
	f.Add([]byte(nil), []byte(`{"results":{"tests":[{"name":"x.py::t","status":"failed","message":null}]}}`), []byte("collected 99999999999999999999 items"), 1)
	f.Fuzz(func(t *testing.T, reported, ctrf, log []byte, code int) {
		v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: code}}, report: reported, ctrf: ctrf, log: log})
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

// A file that a submission writes instead of a report is rejected, and takes at most a few times its size in memory.
func TestHostileReports(t *testing.T) {
	longtest.Skip(t)
	fill := func(element string) string {
		n := (maxReport - 1000) / (len(element) + 1)
		return strings.Repeat(element+",", n) + element
	}
	report := func(tests string) []byte {
		return []byte(`{"exitcode":0,"summary":{"collected":5},"tests":[` + tests + `]}`)
	}
	for name, try := range map[string]struct {
		left  runOutput
		class verdict.Class
		words string
	}{
		"empty tests":             {runOutput{report: report(fill("{}")), log: collected(5)}, verdict.NoReport, "pytest-report.json has more than the 5 tests that pytest collected"},
		"collected unknown":       {runOutput{report: report(fill("{}"))}, verdict.NoReport, "pytest-report.json has more than 100000 tests"},
		"collected forged":        {runOutput{report: report(fill("{}")), log: collected(9_000_000)}, verdict.NoReport, "pytest-report.json has more than 100000 tests"},
		"other report":            {runOutput{report: report(fill("{}")), ctrf: encodeCTRF(one{id: "t.py::a", outcome: "passed"}), log: collected(5)}, verdict.NoReport, "5 tests"},
		"CTRF":                    {runOutput{ctrf: []byte(`{"results":{"tests":[` + fill("{}") + `]}}`), log: collected(5)}, verdict.NoReport, "ctrf-report.json has more than the 5 tests"},
		"null":                    {runOutput{report: report(fill("null")), log: collected(5)}, verdict.NoReport, "5 tests"},
		"collectors":              {runOutput{report: []byte(`{"exitcode":0,"tests":[],"collectors":[` + fill("{}") + `]}`)}, verdict.NoTests, ""},
		"keywords":                {runOutput{report: report(`{"nodeid":"a","keywords":[` + fill(`""`) + `]}`)}, verdict.NoReport, "a test has more than 1000 keywords"},
		"brackets in a text":      {runOutput{report: report(`{"nodeid":"a","outcome":"failed","call":{"outcome":"failed","longrepr":[` + fill("[]") + `]}}`)}, verdict.Judged, ""},
		"depth in a text":         {runOutput{report: report(`{"nodeid":"a","outcome":"failed","call":{"outcome":"failed","longrepr":` + strings.Repeat("[", 9000) + fill("0") + strings.Repeat("]", 9000) + `}}`)}, verdict.Judged, ""},
		"brackets somewhere else": {runOutput{report: []byte(`{"exitcode":0,"tests":[{"nodeid":"a","outcome":"failed"}],"environment":[` + fill("{}") + `]}`)}, verdict.Judged, ""},
		"not whole":               {runOutput{report: append(report(`{"nodeid":"a","outcome":"passed"}`), "{}"...)}, verdict.NoReport, "not a complete JSON report"},
		"too large":               {runOutput{exit: exitFacts{TooLarge: []string{"pytest-report.json"}}, ctrf: encodeCTRF(one{id: "t.py::a", outcome: "passed"}), log: collected(1)}, verdict.NoReport, "pytest-report.json is larger than 16 MiB"},
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
			if err != nil || len(encoded) > 1<<20 {
				t.Errorf("results of %d bytes, %v", len(encoded), err)
			}
		})
	}
}
