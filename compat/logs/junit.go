package logs

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// junit reads JUnit XML, as pytest and many other runners write it: test cases are problems, and whether one passed is
// the metric.
var junit = format{
	name: "junit", title: "JUnit XML", read: readJUnit, metric: "passed",
	holds: func(head []byte) bool {
		return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"), []byte("<")) && bytes.Contains(head, []byte("<testsuite"))
	},
	notes: []note{
		{"errored", "test", "ended by an error, counted as failed"},
		{"not run", "test", "skipped, which have no verdict"},
		{"unknown", "test", "with an unknown status or result, which have no verdict"},
	},
}

const (
	mostToken = 64 << 20 // bytes of a tag, or of a text
	mostDepth = 100
)

// outcome is how a test ended. The worst of several counts.
type outcome int

const (
	passed  outcome = iota
	unknown         // its attributes have a word that no known program writes
	notRun
	errored
	failed
)

// elementOutcomes maps elements below a test case to how it ended. Surefire adds others, such as flakyFailure, for
// attempts that do not decide.
var elementOutcomes = map[string]outcome{"failure": failed, "error": errored, "skipped": notRun, "ignored": notRun, "disabled": notRun}

// wordOutcomes maps values of the attributes status and result, in lower case, by which GoogleTest, CTest, Bazel and
// others record how a test ended, with or without an element.
var wordOutcomes = map[string]outcome{
	"": passed, "run": passed, "completed": passed, "passed": passed, "pass": passed, "success": passed, "successful": passed, "succeeded": passed, "ok": passed, "true": passed, "fixed": passed,
	"fail": failed, "failed": failed, "failure": failed, "false": failed, "regression": failed,
	"error": errored, "errored": errored, "broken": errored, "timeout": errored, "timedout": errored, "interrupted": errored, "crashed": errored, "aborted": errored,
	"notrun": notRun, "not_run": notRun, "skip": notRun, "skipped": notRun, "suppressed": notRun, "filtered": notRun, "disabled": notRun, "ignored": notRun,
	"cancelled": notRun, "canceled": notRun, "pending": notRun, "todo": notRun, "inconclusive": notRun, "notexecuted": notRun,
}

// testcase is a test case as far as it was read.
type testcase struct {
	name, message string
	outcome       outcome
	byAttribute   bool // message is made of an attribute
	failures      int  // elements for failures and errors
}

// suite is a test suite that is being read.
type suite struct {
	name    string
	counted int // failures and errors, by its attributes
	found   int // failures and errors of its cases and suites
}

type junitReader struct {
	*file
	suites []suite // open ones, outermost first
	last   map[string]outcome
}

func readJUnit(f *file, file *os.File) error {
	in := &capped.Reader{In: file, Most: mostToken, What: "a tag or a text"}
	dec := xml.NewDecoder(in)
	dec.CharsetReader = func(name string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(name, "us-ascii") {
			return in, nil
		}
		return nil, fmt.Errorf("its encoding is %s: convert it to UTF-8", text.Line(name, 40))
	}
	r := &junitReader{file: f, last: map[string]outcome{}}
	if err := r.elements(in, dec); err != nil {
		line, _ := dec.InputPos()
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// elements reads elements to the end of the file.
func (r *junitReader) elements(in *capped.Reader, dec *xml.Decoder) error {
	var open []string
	var of *testcase
	for {
		in.Next()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if len(open) == 0 && name != "testsuites" && name != "testsuite" {
				return fmt.Errorf("want testsuites or testsuite, not %s", text.Line(name, 80))
			}
			if open = append(open, name); len(open) > mostDepth {
				return fmt.Errorf("elements are more than %d deep", mostDepth)
			}
			parent := ""
			if len(open) > 1 {
				parent = open[len(open)-2]
			}
			switch {
			case name == "testcase" && of == nil:
				of = newCase(token)
			case of != nil && parent == "testcase":
				if end, known := elementOutcomes[name]; known {
					of.end(end, attribute(token, "message"))
					if end >= errored {
						of.failures++
					}
				}
			case of != nil:
			case name == "testsuite" || name == "testsuites":
				r.suites = append(r.suites, newSuite(token))
			case (name == "failure" || name == "error") && parent == "testsuite":
				if err := r.testcase(&testcase{name: r.suites[len(r.suites)-1].name, message: text.Line(attribute(token, "message"), 200), outcome: errored}); err != nil {
					return err
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
			var err error
			switch name := token.Name.Local; {
			case name == "testcase" && of != nil:
				err, of = r.testcase(of), nil
			case of == nil && (name == "testsuite" || name == "testsuites"):
				err = r.endSuite()
			}
			if err != nil {
				return err
			}
		}
	}
}

func newSuite(e xml.StartElement) suite {
	s := suite{name: cmp.Or(attribute(e, "name"), e.Name.Local)}
	for _, name := range []string{"failures", "errors"} {
		n, _ := strconv.Atoi(attribute(e, name)) // anything else counts nothing
		s.counted += max(0, min(n, mostAttempts))
	}
	return s
}

// endSuite ends the open suite. If it counts more failures than its cases have, one attempt at the suite failed: a
// class whose set-up throws has no case in some programs' files.
func (r *junitReader) endSuite() error {
	s := r.suites[len(r.suites)-1]
	r.suites = r.suites[:len(r.suites)-1]
	if len(r.suites) > 0 {
		r.suites[len(r.suites)-1].found += max(s.counted, s.found)
	}
	if more := s.counted - s.found; more > 0 {
		return r.attempt(&testcase{name: s.name, message: fmt.Sprintf("its suite counts %s that no test has", text.Count(more, "failure")), outcome: errored})
	}
	return nil
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func newCase(e xml.StartElement) *testcase {
	t := &testcase{name: caseName(e)}
	for _, name := range []string{"status", "result"} {
		word := strings.ToLower(strings.TrimSpace(attribute(e, name)))
		end, known := wordOutcomes[word]
		if !known {
			end = unknown
		}
		if end != passed {
			t.end(end, name+" is "+word)
		}
	}
	if strings.EqualFold(attribute(e, "executed"), "false") {
		t.end(notRun, "it was not executed")
	}
	t.byAttribute = true
	return t
}

// caseName returns the name of a test case within its class.
func caseName(e xml.StartElement) string {
	class, name := attribute(e, "classname"), attribute(e, "name")
	if class == "" || name == "" {
		return cmp.Or(class, name)
	}
	return class + "::" + name
}

// end records an outcome. An equal one with a message replaces that of an attribute.
func (t *testcase) end(end outcome, message string) {
	if end > t.outcome || end == t.outcome && message != "" && t.byAttribute {
		t.outcome, t.message, t.byAttribute = end, text.Line(message, 200), false
	}
}

// testcase adds a test case to the open suite.
func (r *junitReader) testcase(t *testcase) error {
	if n := len(r.suites); n > 0 && t.outcome >= errored {
		r.suites[n-1].found += max(1, t.failures)
	}
	return r.attempt(t)
}

// attempt adds a test case to the log. A further case of an equal name is a further attempt.
func (r *junitReader) attempt(t *testcase) error {
	if t.name == "" {
		return errors.New("a test case has neither name nor classname")
	}
	if r.last[t.name] == failed && t.outcome == errored && (strings.HasPrefix(t.message, "failed on teardown") || strings.HasPrefix(t.message, "test teardown")) {
		return nil // pytest writes a second element for a failed test with a failing teardown
	}
	r.last[t.name] = t.outcome
	e := entry{problem: t.name, message: t.message}
	switch t.outcome {
	case passed:
		e.values = []value{{"passed", 1}}
	case errored:
		r.count("errored", "")
		fallthrough
	case failed:
		e.values = []value{{"passed", 0}}
	case notRun:
		r.count("not run", "")
		e.class = verdict.NotRun
	default:
		r.count("unknown", "")
		e.class = verdict.NotJudged
	}
	_, err := r.add(e)
	return err
}
