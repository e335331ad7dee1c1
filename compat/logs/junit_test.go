package logs

import (
	"fmt"
	"strings"
	"testing"
)

// The result for pytest's file equals pytest's own reports.
func TestJUnitRecorded(t *testing.T) {
	l := readOne(t, junit, "junit/pytest.xml")
	var want map[string]string
	decode(t, "junit/expected.json", &want)
	for name, outcome := range want {
		want[name] = strings.Replace(outcome, "error", "failed", 1) // each is a test that did not pass
	}
	got := map[string]string{}
	for _, a := range l.Attempts {
		outcome := map[string]string{"skipped": "skipped"}[string(a.Class)]
		if v, ok := a.Values["passed"]; ok {
			outcome = map[float64]string{1: "passed", 0: "failed"}[v]
		}
		got[a.Problem] = outcome
	}
	if len(want) < 6 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestJUnit(t *testing.T) {
	const content = `<?xml version="1.0"?><testsuites><testsuite name="s">
<testcase classname="a" name="one" time="1"><system-out>&lt;x</system-out></testcase>
<testcase classname="a" name="two"><failure message="assert&#10;1">trace</failure><error message="teardown"/></testcase>
<testcase name="three"><error message="fixture"/></testcase>
<testcase classname="four"><skipped message="later"/></testcase>
<testcase classname="a" name="one"><properties><property><failure/></property></properties></testcase>
</testsuite></testsuites>`
	logs, err := readText(t, junit, "x.xml", content)
	if err != nil {
		t.Fatal(err)
	}
	const want = " [passed]: a::one#1 judged passed=1; a::two#1 judged passed=0 (assert\\n1); three#1 judged passed=0 (fixture); four#1 skipped (later); a::one#2 judged passed=1" +
		" + 1 test ended by an error, counted as failed + 1 test skipped, which have no verdict"
	if got := formatLogs(logs); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// An element explains more than the attribute that records the same outcome.
func TestMessageOfElement(t *testing.T) {
	for _, attribute := range []string{`status="fail"`, `result="failed"`} {
		content := "<testsuite><testcase name='a' " + attribute + "><failure message='1 is not 2'/></testcase></testsuite>"
		logs, err := readText(t, junit, "x.xml", content)
		if err != nil {
			t.Fatal(err)
		}
		if got := logs[0].Attempts[0].Message; got != "1 is not 2" {
			t.Errorf("%s: the message is %q", attribute, got)
		}
	}
}
