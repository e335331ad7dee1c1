package junit

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
)

func formatLog(l *plan.Log) string {
	var all []string
	for _, a := range l.Attempts {
		value := "-"
		if v, ok := a.Values[metric]; ok {
			value = fmt.Sprint(v)
		}
		all = append(all, fmt.Sprintf("%s#%d %s %s %s", a.Problem, a.Repeat, a.Class, value, a.Message))
	}
	return strings.Join(append(all, l.Notes...), "\n")
}

// The result for pytest's file equals pytest's own reports.
func TestRecorded(t *testing.T) {
	logs, err := read(textfile.OpenAt(t, "testdata/pytest.xml"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	for name, outcome := range want {
		want[name] = strings.Replace(outcome, "error", "failed", 1) // each is a test that did not pass
	}
	got := map[string]string{}
	for _, a := range logs[0].Attempts {
		outcome := map[string]string{"skipped": "skipped"}[string(a.Class)]
		if v, ok := a.Values[metric]; ok {
			outcome = map[float64]string{1: "passed", 0: "failed"}[v]
		}
		got[a.Problem] = outcome
	}
	if len(want) < 6 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRead(t *testing.T) {
	const content = `<?xml version="1.0"?><testsuites><testsuite name="s">
<testcase classname="a" name="one" time="1"><system-out>&lt;x</system-out></testcase>
<testcase classname="a" name="two"><failure message="assert&#10;1">trace</failure><error message="teardown"/></testcase>
<testcase name="three"><error message="fixture"/></testcase>
<testcase classname="four"><skipped message="later"/></testcase>
<testcase classname="a" name="one"><properties><property><failure/></property></properties></testcase>
</testsuite></testsuites>`
	logs, err := read(textfile.Open(t, "x.xml", content))
	if err != nil || !holds([]byte(content)) {
		t.Fatal(err)
	}
	const want = "a::one#1 judged 1 \na::two#1 judged 0 assert\\n1\nthree#1 judged 0 fixture\nfour#1 skipped - later\na::one#2 judged 1 \n" +
		"1 test ended by an error, counted as failed\n1 test skipped, which have no verdict"
	if got := formatLog(logs[0]); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// An element explains more than the attribute that records the same outcome.
func TestMessageOfElement(t *testing.T) {
	for _, attribute := range []string{`status="fail"`, `result="failed"`} {
		content := "<testsuite><testcase name='a' " + attribute + "><failure message='1 is not 2'/></testcase></testsuite>"
		logs, err := read(textfile.Open(t, "x.xml", content))
		if err != nil {
			t.Fatal(err)
		}
		if got := logs[0].Attempts[0].Message; got != "1 is not 2" {
			t.Errorf("%s: the message is %q", attribute, got)
		}
	}
}

func TestBroken(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"empty":        {"", "it has no test case"},
		"another":      {"<html/>", "want testsuites or testsuite, not html"},
		"cut off":      {"<testsuite>\n<testcase name='a'>", "line 2: XML syntax error"},
		"no tests":     {"<testsuite/>", "it has no test case"},
		"no name":      {"<testsuite>\n\n<testcase/></testsuite>", "line 3: a test case has neither"},
		"entities":     {`<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>`, "invalid character entity"},
		"an encoding":  {`<?xml version="1.0" encoding="iso-8859-1"?><testsuite><testcase name="a"/></testsuite>`, "its encoding is iso-8859-1: convert it to UTF-8"},
		"deep":         {"<testsuite>" + strings.Repeat("<a>", 200), "more than 100 deep"},
		"a large text": {"<testsuite><testcase name='a'><system-out>" + strings.Repeat("x", mostToken+1<<20) + "</system-out></testcase></testsuite>", "larger than 64 MiB"},
	} {
		if _, err := read(textfile.Open(t, "x.xml", c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, other := range []string{"", "<html>", "testsuite", "{}"} {
		if holds([]byte(other)) {
			t.Errorf("%q is recognized", other)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("<testsuite><testcase classname='a' name='b'><failure message='c'/></testcase></testsuite>")
	f.Fuzz(func(t *testing.T, content string) {
		holds([]byte(content))
		if logs, err := read(textfile.Open(t, "x.xml", content)); err == nil && len(logs[0].Attempts) == 0 {
			t.Error("an empty log is not rejected")
		}
	})
}
