// Package junit reads JUnit XML, as pytest and many other runners write it: test cases are problems, and whether one
// passed is the metric.
package junit

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Benchmark returns the reader of JUnit XML.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "junit", Logs: []plan.LogFormat{{Name: "junit", Title: "JUnit XML", Holds: holds, Read: read}}}
}

// metric is the only one.
const metric = "passed"

const (
	mostCases = 1_000_000
	mostToken = 64 << 20 // bytes of a tag, or of a text
	mostDepth = 100
)

func holds(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"), []byte("<")) && bytes.Contains(head, []byte("<testsuite"))
}

// testcase is a test case as far as it was read.
type testcase struct {
	name, outcome, message string // outcome is the name of the element for how it ended; "" passed
}

type reader struct {
	log     plan.Log
	last    testcase
	repeats map[string]int
	counts  map[string]int
}

func read(file *os.File) ([]*plan.Log, error) {
	in := &capped.Reader{In: file, Most: mostToken, What: "a tag or a text"}
	dec := xml.NewDecoder(in)
	dec.CharsetReader = func(name string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(name, "us-ascii") {
			return in, nil
		}
		return nil, fmt.Errorf("its encoding is %s: convert it to UTF-8", text.Line(name, 40))
	}
	r := &reader{log: plan.Log{Metrics: []string{metric}}, repeats: map[string]int{}, counts: map[string]int{}}
	if err := r.elements(in, dec); err != nil {
		line, _ := dec.InputPos()
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	if len(r.log.Attempts) == 0 {
		return nil, errors.New("it has no test case")
	}
	for _, note := range []struct{ outcome, words string }{
		{"error", "ended by an error, which have no verdict"},
		{"skipped", "skipped, which have no verdict"},
	} {
		if n := r.counts[note.outcome]; n > 0 {
			r.log.Notes = append(r.log.Notes, text.Count(n, "test")+" "+note.words)
		}
	}
	return []*plan.Log{&r.log}, nil
}

// elements reads elements to the end of the file.
func (r *reader) elements(in *capped.Reader, dec *xml.Decoder) error {
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
			switch {
			case name == "testcase" && of == nil:
				of = &testcase{name: caseName(token)}
			case of != nil && open[len(open)-2] == "testcase":
				of.end(name, attribute(token, "message"))
			}
		case xml.EndElement:
			open = open[:len(open)-1]
			if token.Name.Local == "testcase" && of != nil {
				if err := r.add(of); err != nil {
					return err
				}
				of = nil
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// caseName is the name of a test case within its class.
func caseName(e xml.StartElement) string {
	class, name := attribute(e, "classname"), attribute(e, "name")
	if class == "" || name == "" {
		return cmp.Or(class, name)
	}
	return class + "::" + name
}

// end notes how a test ended. A test that failed and whose teardown broke has failed.
func (t *testcase) end(element, message string) {
	rank := map[string]int{"skipped": 1, "error": 2, "failure": 3}
	if rank[element] > rank[t.outcome] {
		t.outcome, t.message = element, text.Line(message, 200)
	}
}

// add adds a test case. One of a name that is there already is a further attempt.
func (r *reader) add(t *testcase) error {
	switch {
	case t.name == "":
		return errors.New("a test case has neither name nor classname")
	case len(r.log.Attempts) == mostCases:
		return fmt.Errorf("more than %d test cases", mostCases)
	}
	if r.last.name == t.name && r.last.outcome == "failure" && t.outcome == "error" {
		return nil // pytest writes a second element for a teardown that broke
	}
	r.last = *t
	r.repeats[t.name]++
	r.counts[t.outcome]++
	a := plan.LogAttempt{Problem: t.name, Repeat: r.repeats[t.name], Class: verdict.Judged, Message: t.message}
	switch t.outcome {
	case "":
		a.Values = map[string]float64{metric: 1}
	case "failure":
		a.Values = map[string]float64{metric: 0}
	case "error":
		a.Class = verdict.NotJudged
	default:
		a.Class = verdict.NotRun
	}
	r.log.Attempts = append(r.log.Attempts, a)
	return nil
}
