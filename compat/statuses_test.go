package compat

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// What an attempt with a status is worth in a comparison.
const (
	counts1   = "1"
	counts0   = "0"
	noVerdict = "no verdict"
)

// status is a status of a format, and a file with one attempt that has it.
type status struct {
	format, name, there, here string
	content                   string // what the format's frame contains
}

// frames are files of the formats, with one place for content.
var frames = map[string]string{
	"junit":           `<testsuites><testsuite name="s">%s</testsuite></testsuites>`,
	"swebench":        `{"total_instances": 1, "submitted_instances": 1, %s}`,
	"harbor":          `{"task_name": "a", "trial_name": "a__1", "finished_at": "2026-01-01T00:00:00Z", %s}`,
	"inspect":         `{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [{"id": "a", "epoch": 1, %s}]}`,
	"lm-eval":         `{"doc_id": 1, "doc": {}, "filter": "none", "metrics": ["acc"], %s}` + "\n" + `{"doc_id": 2, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": 1}`,
	"every_eval_ever": `{"evaluation_id": "x", "model_id": "m", "evaluation_name": "e", "sample_id": "a", %s}`,
	"csv":             "id,passed,error\na,%s\nb,1,\n",
}

var statuses = []status{
	{"junit", "no element", "passed", counts1, `<testcase name="a"/>`},
	{"junit", "`<failure>`", "failed", counts0, `<testcase name="a"><failure/></testcase>`},
	{"junit", "`<error>`: an exception, a set-up, another exit code", "not passed", counts0, `<testcase name="a"><error/></testcase>`},
	{"junit", "`<skipped>`, `<ignored>`, `<disabled>`", "not run", noVerdict, `<testcase name="a"><skipped/></testcase>`},
	{"junit", "`<skipped>` and `<error>`", "not passed", counts0, `<testcase name="a"><skipped/><error/></testcase>`},
	{"junit", "several `<failure>` (GoogleTest, subtests)", "one failure", counts0, `<testcase name="a"><failure/><failure/></testcase>`},
	{"junit", "`<failure>`, then `<error>` of the teardown (pytest)", "one failure", counts0, `<testcase name="a"><failure/></testcase><testcase name="a"><error message="failed on teardown with &quot;x&quot;"/></testcase>`},
	{"junit", "`<flakyFailure>` (Surefire)", "passed", counts1, `<testcase name="a"><flakyFailure/></testcase>`},
	{"junit", "`<rerunFailure>` and `<failure>` (Surefire)", "failed", counts0, `<testcase name="a"><failure/><rerunFailure/></testcase>`},
	{"junit", `status="run" result="completed" (GoogleTest, Bazel)`, "passed", counts1, `<testcase name="a" status="run" result="completed"/>`},
	{"junit", `status="notrun" result="suppressed" (GoogleTest)`, "not run", noVerdict, `<testcase name="a" status="notrun" result="suppressed"/>`},
	{"junit", `status="run" result="skipped" (GoogleTest)`, "skipped", noVerdict, `<testcase name="a" status="run" result="skipped"/>`},
	{"junit", `status="disabled" (CTest)`, "not run", noVerdict, `<testcase name="a" status="disabled"/>`},
	{"junit", `status="fail" (CTest)`, "failed", counts0, `<testcase name="a" status="fail"><failure message=""/></testcase>`},
	{"junit", `result="interrupted" (Bazel)`, "not passed", counts0, `<testcase name="a" status="run" result="interrupted"/>`},
	{"junit", `result="cancelled", result="filtered" (Bazel)`, "not run", noVerdict, `<testcase name="a" status="notrun" result="cancelled"/>`},
	{"junit", `executed="False" (NUnit)`, "not run", noVerdict, `<testcase name="a" executed="False"/>`},
	{"junit", "any other status", "-", noVerdict, `<testcase name="a" status="odd"/>`},
	{"junit", "`<error>` of a suite", "not passed", counts0, `<error message="set-up"/>`},
	{"junit", `errors="1" of a suite, of no test`, "not passed", counts0, `<testsuite name="u" tests="0" errors="1"/>`},
	{"swebench", "`resolved_ids`", "resolved", counts1, `"resolved_ids": ["a"]`},
	{"swebench", "`unresolved_ids`", "not resolved", counts0, `"unresolved_ids": ["a"]`},
	{"swebench", "`error_ids`", "not resolved", counts0, `"error_ids": ["a"]`},
	{"swebench", "`empty_patch_ids`", "not resolved", counts0, `"empty_patch_ids": ["a"]`},
	{"swebench", "`infra_failure_ids`", "not resolved", noVerdict, `"infra_failure_ids": ["a"], "error_ids": ["a"]`},
	{"swebench", "`ambiguous_failure_ids`", "not resolved", counts0, `"ambiguous_failure_ids": ["a"], "error_ids": ["a"]`},
	{"harbor", "a reward", "the reward", counts1, `"verifier_result": {"rewards": {"reward": 1}}`},
	{"harbor", "no reward, no exception", "0", noVerdict, `"verifier_result": null`},
	{"harbor", "`AgentTimeoutError` and a reward", "the reward", counts1, `"verifier_result": {"rewards": {"reward": 1}}, "exception_info": {"exception_type": "AgentTimeoutError"}`},
	{"harbor", "an exception of the agent, or `VerifierTimeoutError`, and no reward", "0", counts0, `"exception_info": {"exception_type": "AgentTimeoutError"}`},
	{"harbor", "any other exception without a reward", "0", noVerdict, `"exception_info": {"exception_type": "RuntimeError"}`},
	{"inspect", "`C`", "1", counts1, `"scores": {"s": {"value": "C"}}`},
	{"inspect", "`I`, `N`", "0", counts0, `"scores": {"s": {"value": "I"}}`},
	{"inspect", "a list", "0", counts0, `"scores": {"s": {"value": ["C", 1]}}`},
	{"inspect", "a score of no number", "0", noVerdict, `"scores": {"s": {"value": "odd"}}`},
	{"inspect", "`error` of a sample", "left out", noVerdict, `"scores": {}, "error": "broke"`},
	{"inspect", "`limit` of a sample with a score", "the score", counts1, `"scores": {"s": {"value": "C"}}, "limit": "token"`},
	{"lm-eval", "a number", "the number", counts1, `"acc": 1`},
	{"lm-eval", "`NaN`, `null`, a list", "no mean", noVerdict, `"acc": NaN`},
	{"every_eval_ever", "a score", "the score", counts1, `"evaluation": {"score": 1, "is_correct": true}`},
	{"every_eval_ever", "a score and an `error`: a timeout, a refusal", "the score", counts0, `"evaluation": {"score": 0, "is_correct": false}, "error": "timeout"`},
	{"every_eval_ever", "a score and an empty `error`", "the score", counts1, `"evaluation": {"score": 1, "is_correct": true}, "error": ""`},
	{"csv", "`1`, `true`, `yes`, `pass`, `passed`", "-", counts1, `true,`},
	{"csv", "`0`, `false`, `no`, `fail`, `failed`", "-", counts0, `failed,`},
	{"csv", "`error`, `timeout`, `crash` in `passed`, `solved`, `resolved`, `correct`", "-", counts0, `timeout,`},
	{"csv", "empty, or another text", "-", noVerdict, `,`},
	{"csv", "empty, with an `error`", "-", counts0, `,it broke`},
	{"csv", "a number, with an `error`", "-", counts1, `1,retried`},
}

// worth returns what the first attempt at the metric is worth.
func worth(logs []*plan.Log) string {
	a := logs[0].Attempts[0]
	v, ok := a.Values[append(logs[0].Metrics, "")[0]]
	switch s := a.Class.Status(); {
	case ok:
		return fmt.Sprint(v)
	case s == verdict.Error || s == verdict.TimedOut:
		return counts0
	}
	return noVerdict
}

// Every format has a row for each of its statuses in README.md, and is read like that row.
func TestStatuses(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Statuses of other programs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| `") {
			documented = append(documented, strings.TrimSpace(line))
		}
	}
	formats := plan.LogFormats(Benchmarks())
	seen := map[string]bool{}
	var rows []string
	for _, s := range statuses {
		at := slices.IndexFunc(formats, func(f plan.LogFormat) bool { return f.Name == s.format })
		if at < 0 {
			t.Fatalf("no format %s", s.format)
		}
		seen[s.format] = true
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", s.format, s.name, s.there, s.here))
		content := fmt.Sprintf(frames[s.format], s.content)
		if !formats[at].Holds([]byte(content)) {
			t.Errorf("%s, %s: %s is not recognized", s.format, s.name, content)
		}
		logs, err := formats[at].Read(textfile.Open(t, "x", content))
		if err != nil {
			t.Errorf("%s, %s: %v", s.format, s.name, err)
		} else if got := worth(logs); got != s.here {
			t.Errorf("%s, %s: %s, want %s", s.format, s.name, got, s.here)
		} else if n := len(logs[0].Attempts); n != 1 && s.format != "lm-eval" && s.format != "csv" {
			t.Errorf("%s, %s: %d attempts, want 1", s.format, s.name, n)
		}
	}
	for _, f := range formats {
		if !seen[f.Name] {
			t.Errorf("no statuses of %s", f.Name)
		}
	}
	if !slices.Equal(documented, rows) {
		t.Errorf("README.md has other rows; want\n%s", strings.Join(rows, "\n"))
	}
}
