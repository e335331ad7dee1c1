package pytest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// endedWith stores the results of a run, as Run does.
func endedWith(t *testing.T, store cache.Store, file string, l runOutput) Ended {
	t.Helper()
	k := session.Keeper{Ctx: t.Context(), Store: store}
	k.JSON(OutputExit, l.exit)
	k.JSON(OutputTiming, l.timing)
	for name, content := range map[string][]byte{OutputReport: l.report, OutputCTRF: l.ctrf, OutputLog: l.log} {
		if content != nil {
			k.Keep(name, content)
		}
	}
	if k.Err != nil {
		t.Fatal(k.Err)
	}
	return Ended{File: file, Outputs: k.Outcome.Outputs}
}

func TestJoin(t *testing.T) {
	first := runOutput{log: []byte("collected 2 items\nfirst"), report: []byte(`{"created":10.5,"duration":1.25,"exitcode":0,"root":"/w1","environment":{"a":"b"},
		"summary":{"passed":1,"deselected":3,"total":1,"collected":4},
		"collectors":[{"nodeid":"","outcome":"passed","result":[{"nodeid":"tests","type":"Dir"}]},
			{"nodeid":"tests","outcome":"passed","result":[{"nodeid":"tests/test_a.py","type":"Module"}]},
			{"nodeid":"tests/test_a.py","outcome":"passed","result":[{"nodeid":"tests/test_a.py::x","type":"Function","lineno":1}]}],
		"tests":[{"nodeid":"tests/test_a.py::x","outcome":"passed","extra":[1.50]}]}`)}
	second := runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, log: []byte("collected 2 items\nsecond\n"), report: []byte(`{"created":20,"duration":0.5,"exitcode":1,"root":"/w2","environment":{},
		"summary":{"failed":1,"passed":1,"total":2,"collected":2},
		"collectors":[{"nodeid":"","outcome":"passed","result":[{"nodeid":"tests","type":"Dir"}]},
			{"nodeid":"tests","outcome":"passed","result":[{"nodeid":"tests/a_test.py","type":"Module"},{"nodeid":"tests/test_b.py","type":"Module"}]}],
		"tests":[{"nodeid":"tests/a_test.py::c","outcome":"passed"},{"nodeid":"tests/test_b.py::y","outcome":"failed","longrepr":"é <b>"}]}`)}
	store := cache.NewMemory()
	a, b := endedWith(t, store, "test_a.py", first), endedWith(t, store, "test_b.py", second)

	reported, log, err := Join(t.Context(), store, "tests", []Ended{a})
	if err != nil || string(reported) != string(first.report) || string(log) != string(first.log) {
		t.Errorf("one run is not left as it is: %s\n%s\n%v", reported, log, err)
	}

	reported, log, err = Join(t.Context(), store, "tests", []Ended{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if want := "==> tests/test_a.py <==\ncollected 2 items\nfirst\n==> tests/test_b.py <==\ncollected 2 items\nsecond\n"; string(log) != want {
		t.Errorf("log %q, want %q", log, want)
	}
	const want = `{"created":10.5,"duration":1.75,"exitcode":1,"root":"/w1","environment":{"a":"b"},
		"summary":{"collected":4,"deselected":3,"failed":1,"passed":2,"total":3},
		"collectors":[{"nodeid":"","outcome":"passed","result":[{"nodeid":"tests","type":"Dir"}]},
			{"nodeid":"tests","outcome":"passed","result":[{"nodeid":"tests/test_a.py","type":"Module"},{"nodeid":"tests/a_test.py","type":"Module"},{"nodeid":"tests/test_b.py","type":"Module"}]},
			{"nodeid":"tests/test_a.py","outcome":"passed","result":[{"nodeid":"tests/test_a.py::x","type":"Function","lineno":1}]}],
		"tests":[{"nodeid":"tests/a_test.py::c","outcome":"passed"},{"nodeid":"tests/test_a.py::x","outcome":"passed","extra":[1.50]},{"nodeid":"tests/test_b.py::y","outcome":"failed","longrepr":"é <b>"}]}`
	if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, reported)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// The joined report reads like the parts together.
	joined, _ := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: reported, log: []byte("collected 4 items\n")})
	v, _ := parse.judgeParts([]part{newPart("tests/test_a.py", first), newPart("tests/test_b.py", second)})
	if diff := cmp.Diff(v, joined); diff != "" {
		t.Errorf("(-parts +joined)\n%s", diff)
	}
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// TestJoinBroken: a broken run has no outputs, so the other parts do not make a report.
func TestJoinBroken(t *testing.T) {
	store := cache.NewMemory()
	fine := endedWith(t, store, "test_a.py", runOutput{report: encodeJSON(0, checkpointTest("1", "a", "passed")), log: collected(1)})
	reported, log, err := Join(t.Context(), store, "tests", []Ended{fine, {File: "test_b.py"}})
	if err != nil || reported != nil || !strings.HasPrefix(string(log), "==> tests/test_a.py <==\n") {
		t.Errorf("%s\n%s\n%v", reported, log, err)
	}
	if reported, log, err := Join(t.Context(), store, "tests", []Ended{{}}); err != nil || reported != nil || log != nil {
		t.Errorf("%s\n%s\n%v", reported, log, err)
	}
}

// TestJoinLeavesOut: reports omit tests that do not count.
func TestJoinLeavesOut(t *testing.T) {
	fine := runOutput{report: encodeJSON(0, checkpointTest("1", "a", "passed")), log: collected(1)}
	for _, try := range []struct {
		name string
		left runOutput
		want string // a part of the report; "" means no report
	}{
		{"killed", runOutput{exit: exitFacts{Exit: session.Exit{Code: 137}}, report: encodeJSON(0, checkpointTest("2", "b", "passed")), log: collected(1)}, ""},
		{"no report", runOutput{log: collected(1)}, ""},
		{"cannot be imported", runOutput{exit: exitFacts{Exit: session.Exit{Code: 2}}, report: encodeJSON(2), log: []byte("collected 0 items\nduring collection")}, `"exitcode":2,"summary":{"collected":1,"total":0},"tests":[]`},
		{"the other report", runOutput{report: []byte("{"), ctrf: encodeCTRF(checkpointTest("2", "b", "passed")), log: collected(1)}, `"summary":{"collected":2,"passed":1,"total":1}`},
		{"no tests", runOutput{exit: exitFacts{Exit: session.Exit{Code: 5}}, report: encodeJSON(5), log: []byte("collected 0 items\n")}, `"exitcode":0,"summary":{"collected":1,"passed":1,"total":1}`},
	} {
		got, err := joinReports([]part{checkpointPart("1", fine), checkpointPart("2", try.left)})
		if err != nil {
			t.Error(err)
		}
		if (try.want == "") != (got == nil) || !strings.Contains(string(got), try.want) {
			t.Errorf("%s: %s, want %s", try.name, got, try.want)
		}
	}
}

// A checkpoint without a node in this run is ignored.
func TestJoinNothing(t *testing.T) {
	if report, log, err := Join(t.Context(), nil, "tests", nil); report != nil || log != nil || err != nil {
		t.Errorf("%q, %q, %v", report, log, err)
	}
}
