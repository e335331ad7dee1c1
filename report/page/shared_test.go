package page

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

var update = flag.Bool("update", false, "rewrite golden files")

// shared holds results of code that the page and the program both have: web/test/shared.ts compares
// the page with these answers of the program.
type shared struct {
	Index     *index         `json:"index"`
	Selectors []selectorCase `json:"selectors"`
	Visible   [][2]string    `json:"visible"`
	Durations []durationCase `json:"durations"`
}

type selectorCase struct {
	Args  []string `json:"args"`
	Line  string   `json:"line"` // the arguments as a shell reads them
	Cells []int    `json:"cells"`
	Error bool     `json:"error,omitempty"`
}

type durationCase struct {
	Seconds float64 `json:"seconds"`
	Text    string  `json:"text"`
}

// selected returns cells with names of all kinds.
func selected() *report.Results {
	r := &report.Results{Schema: report.Schema, Run: "r"}
	checkpoint := func(name string, passed bool, class verdict.Class, policy string) report.Checkpoint {
		return report.Checkpoint{Name: name, Passed: passed, Class: class, Policy: policy}
	}
	add := func(problem, solution, backend string, repeat int, suites []string, labels map[string]string, checkpoints ...report.Checkpoint) {
		status := verdict.Success
		if len(checkpoints) == 0 {
			status = verdict.Broken
		}
		r.Cells = append(r.Cells, report.Cell{Problem: problem, Solution: solution, Backend: backend, Repeat: repeat, Suites: suites, Labels: labels, Status: status, Checkpoints: checkpoints})
	}
	one, two := checkpoint("checkpoint_1", true, verdict.Judged, "core-cases"), checkpoint("checkpoint_2", false, verdict.Judged, "core-cases")
	add("kvstore", `agent["gpt, large"]`, "local.host", 1, []string{"nightly", "all"}, map[string]string{"model": "gpt5", "attempt": "1"}, one, two)
	add("kvstore", `agent["a/b"]`, "docker.py312", 1, []string{"all"}, map[string]string{"model": "claude"}, one, checkpoint("checkpoint_2", false, verdict.SessionTimeout, "core-cases"))
	add("kvstore", "reference", "local.host", 1, nil, nil, one, checkpoint("checkpoint_2", true, verdict.Judged, "core-cases"))
	add("kvstore", "reference", "local.host", 2, nil, nil, one, two)
	add("kvstore", "plain/name", "local.host", 1, nil, nil, one, checkpoint("a/b", false, verdict.NotReached, "core-cases"))
	add("knapsack", "greedy", "gojudge.box", 1, nil, nil, checkpoint("", false, verdict.Judged, "none"))
	add("knapsack", "exact", "gojudge.box", 1, nil, nil, checkpoint("", true, verdict.Judged, "any"))
	add(`we"ird%name`, `x=y[z]`, "local.host", 1, nil, nil, one)
	add("naïve*", "日本 語", "local.host", 1, nil, map[string]string{"model": ""}, checkpoint("checkpoint_1", false, verdict.NotJudged, "core-cases"))
	add("invalid", "reference", "local.host", 1, nil, nil)
	return r
}

var selectors = [][]string{
	{"kvstore"}, {"kv"}, {"kv*"}, {"*"}, {"**"}, {"?nap*"}, {"kvstore/reference"}, {"kvstore/checkpoint_1"}, {"kvstore/checkpoint_2/reference"}, {"kvstore/checkpoint_?/*"},
	{"kvstore/checkpoint_2/reference@local.host"}, {"kvstore/checkpoint_2/reference@local.host#2"}, {"kvstore/reference@local.host#2"}, {"*#2"}, {"*@docker.*"}, {"*@local.host"},
	{"aggregate:kvstore"}, {"score:knapsack"}, {"aggregate:kvstore/*"}, {"pytest:kvstore"}, {"score:knapsack/greedy@gojudge.box"}, {"knapsack/greedy"}, {"*greedy"},
	{`kvstore/agent[gpt, large]`}, {`kvstore/agent["gpt, large"]`}, {`kvstore/agent["a/b"]`}, {`kvstore/*/agent[a/b]`}, {"kvstore/plain%2Fname"}, {"kvstore/plain/name"}, {"kvstore/a%2Fb/plain%2Fname"},
	{"problem=kvstore"}, {"problem=kv*"}, {"problem=k*"}, {"problem="}, {"problem=*"}, {"problem=nosuch"}, {"solution=agent"}, {`solution=agent["gpt, large"]`}, {`solution=agent[gpt*`},
	{"solution=agen"}, {"solution=plain/name"}, {`solution="agent[a/b]"`}, {"backend=docker.*"}, {"backend=local.host"}, {"suite=nightly"}, {"suite=all"}, {"suite=*"}, {"repeat=2"}, {"repeat=*"},
	{"model=gpt5"}, {"label.model=claude"}, {"label.attempt=1"}, {"label.attempt=*"}, {"label.nosuch=1"}, {"model=*"},
	{"verdict=passed"}, {"verdict=pass"}, {"verdict=failed"}, {"verdict=fail"}, {"verdict=scored"}, {"verdict=timeout"}, {"verdict=not_reached"}, {"verdict=error"}, {"verdict=broken"}, {"verdict=*"}, {"verdict=judged"},
	{"checkpoint=checkpoint_1"}, {"checkpoint=checkpoint_1,verdict=failed"}, {"checkpoint=checkpoint_2,verdict=passed"}, {"checkpoint=a/b"}, {"checkpoint=*"}, {"checkpoint="},
	{"problem=kvstore,verdict=failed"}, {"kvstore/reference,verdict=failed"}, {"kvstore,checkpoint=checkpoint_2,backend=docker.*"}, {" problem=kvstore , solution=reference "}, {"solution=reference,repeat=1"},
	{"problem=knapsack", "verdict=timeout"}, {"model=gpt5", "model=claude"}, {"solution=reference", "solution=agent,verdict=failed"}, {"invalid"}, {"invalid/reference"}, {"invalid,verdict=broken"},
	{`problem=we"ird%name`}, {`we%22ird%25name`}, {"solution=x=y[z]"}, {"*x=y[z]*"}, {"x=y[z]"}, {"problem=naïve*"}, {"problem=na?ve?"}, {"solution=日本 語"}, {"solution=日?*"}, {"naïve*/*"},
	{""}, {" "}, {","}, {"problem=a,"}, {"tag=x"}, {"kind=score"}, {"problem=kvstore,,solution=x"}, {"*.*"}, {"kvstore/(.*)"}, {`*\*`}, {"*{agent,x}*"}, {"*[a-z]*"}, {"*$"}, {"^*"},
}

func TestShared(t *testing.T) {
	results := selected()
	entries := results.Entries()
	cells := cellsOf(entries)
	place := map[string]int{}
	for i, c := range cells {
		place[fmt.Sprint(c.Problem, "\x00", c.Solution, "\x00", c.Backend, "\x00", c.Repeat)] = i
	}
	s := shared{Index: newIndex(&Page{Runs: []Run{{ID: "r", Results: results}}, Words: selection.VerdictWords}, entries, nil)}
	for _, args := range selectors {
		one := selectorCase{Args: args, Line: "'" + strings.Join(args, "'  '") + "'", Cells: []int{}}
		picked, err := selection.Pick(results, args)
		if err != nil && !strings.Contains(err.Error(), "matches no result") {
			one.Error = true
		}
		if err == nil {
			for _, c := range picked.Cells {
				one.Cells = append(one.Cells, place[fmt.Sprint(c.Problem, "\x00", c.Solution, "\x00", c.Backend, "\x00", c.Repeat)])
			}
			slices.Sort(one.Cells)
		}
		s.Selectors = append(s.Selectors, one)
	}
	for _, in := range []string{"plain", "tab\tand\nline", "\r\n", "a\rb", "\x00\x1b[31m\x7f\u0085", "\u202eevil\u2066", "\u200b\u200d\ufeff", "\u2028\u2029", "\U000e0001", "é日本👩‍💻", "</script>", "\u00ad"} {
		s.Visible = append(s.Visible, [2]string{in, text.Block(in)})
	}
	for _, n := range []float64{0, 0.0001, 0.08, 0.0994, 0.1, 1.234, 59.94, 59.96, 190, 3599.4, 3599.6, 7500, 360000, -1} {
		s.Durations = append(s.Durations, durationCase{n, text.Duration(n)})
	}
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetIndent("", " ")
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "shared.json")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is out of date; see the changes with -update", golden)
	}
}
