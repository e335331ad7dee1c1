package pytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Long texts lose only their middles.
func TestShortenStrings(t *testing.T) {
	const limit = 64
	for _, text := range []string{
		"", "short", strings.Repeat("x", limit), strings.Repeat("\"\\\n", 9), strings.Repeat("é", 500), strings.Repeat("\\", 501),
		strings.Repeat("\u0001\"", 300), "begin" + strings.Repeat("-", 10000) + "end", strings.Repeat("y", limit*3/4+1),
	} {
		encoded, err := json.Marshal(map[string]any{"a": text, "n": []any{1.5, text, nil}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := shortenStrings(strings.NewReader(string(encoded)), limit)
		var back struct {
			A string
			N []any
		}
		if err != nil || json.Unmarshal(got, &back) != nil || back.N[0] != 1.5 || back.N[1] != back.A || back.N[2] != nil {
			t.Errorf("%.20q: got %s, %v", text, got, err)
			continue
		}
		head, tail, cut := strings.Cut(back.A, "\n[...]\n")
		switch {
		case !cut && back.A != text, cut && (!strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(back.A) > 2*limit):
			t.Errorf("%.20q: got %q", text, back.A)
		case len(text) <= limit/2 && cut:
			t.Errorf("%.20q was cut", text)
		}
	}
}

// A report with long texts is read; a report with too many tests is not.
func TestLargeReports(t *testing.T) {
	var tests []string
	const n = 200
	for i := range n {
		tests = append(tests, fmt.Sprintf(`{"nodeid":"tests/test_checkpoint_2.py::t%d","outcome":"failed","setup":{"outcome":"passed"},"call":{"outcome":"failed","crash":{"message":%q},"longrepr":%[2]q},"teardown":{"outcome":"passed"}}`,
			i, strings.Repeat("different ", maxMessage/8)+"end"))
	}
	report := `{"exitcode":1,"summary":{"collected":200},"tests":[` + strings.Join(tests, ",") + `]}`
	if _, err := shortenStrings(strings.NewReader(report), stringLimits[0]); !errors.Is(err, errReportTooLarge) {
		t.Errorf("the first limit: %v", err)
	}
	shortened, err := shortenStrings(strings.NewReader(report), stringLimits[len(stringLimits)-1])
	if err != nil {
		t.Fatal(err)
	}
	v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: 1}}, report: shortened, log: collected(n)})
	if v.Class != verdict.Judged || len(v.Tests) != n || !strings.HasSuffix(m.Tests[0].Message, "end") {
		t.Errorf("%s, %d tests: %s", v.Class, len(v.Tests), m.Message)
	}
}
