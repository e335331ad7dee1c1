package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// The JUnit form: a suite per checkpoint of a cell, a case per test. What the
// tests do not say about their checkpoint is a case of its own, see remark.
// encoding/xml writes every character that XML 1.0 does not allow as U+FFFD.
type (
	junitReport struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // seconds
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"` // seconds
		Failure *junitOutcome `xml:"failure"`
		Error   *junitOutcome `xml:"error"`
		Skipped *junitOutcome `xml:"skipped"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr,omitempty"` // one line, cut
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"` // all of it
	}
)

func writeJUnit(w io.Writer, r *Results, _ Options) error {
	report := junitReport{Name: "fevalgraph"}
	total := 0.0
	for _, row := range rowsOf(r) {
		suite := junitSuiteOf(r.Run, row)
		report.Suites = append(report.Suites, suite)
		report.Tests += suite.Tests
		report.Failures += suite.Failures
		report.Errors += suite.Errors
		report.Skipped += suite.Skipped
		total += row.seconds()
	}
	report.Time = junitTime(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(report); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitSuiteOf(run string, row row) junitSuite {
	cell, c := row.cell, row.checkpoint
	suite := junitSuite{Name: suiteName(row)}
	suite.Time = junitTime(row.seconds())
	suite.Properties = []junitProperty{
		{"run", run}, {"problem", cell.Problem}, {"solution", cell.Solution}, {"backend", cell.Backend},
		{"repeat", strconv.Itoa(cell.Repeat)}, {"checkpoint", c.Name}, {"class", string(c.Class)},
		{"policy", c.Policy}, {"passed", passedText(c)},
	}
	if caveat := c.Caveat(); caveat != "" {
		suite.Properties = append(suite.Properties, junitProperty{"caveat", caveat})
	}
	for _, score := range []struct {
		name  string
		value string
	}{{"score", exact(c.Score) + c.ScoreText}, {"score_unbounded", exact(c.ScoreUnbounded) + c.ScoreUnboundedText}} {
		if score.value != "" {
			suite.Properties = append(suite.Properties, junitProperty{score.name, score.value})
		}
	}
	for _, t := range c.Tests {
		suite.add(junitCase{Class: t.File, Name: t.ID, Time: junitTime(t.DurationMS / 1000)},
			junitVerdict(t.Status), orName(t.Verdict, string(t.Status)), messageOr(t.Message, ""))
	}
	if m := remarkOn(c); m != nil {
		message := m.message
		if own := row.message(); own != "" {
			message = own
		}
		suite.add(junitCase{Class: cell.Problem, Name: orName(c.Name, cell.Problem), Time: junitTime(0)}, m.outcome, m.kind, message)
	}
	return suite
}

func junitVerdict(s verdict.TestStatus) outcome {
	switch s {
	case verdict.TestPassed:
		return outcomePassed
	case verdict.TestFailed:
		return outcomeFailed
	case verdict.TestSkipped:
		return outcomeSkipped
	}
	return outcomeErrored
}

func (s *junitSuite) add(c junitCase, v outcome, kind, message string) {
	outcome := &junitOutcome{Message: text.Cut(text.FirstLine(message), 200), Type: kind, Text: message}
	s.Tests++
	switch v {
	case outcomePassed:
	case outcomeFailed, outcomeMissing:
		s.Failures++
		c.Failure = outcome
	case outcomeSkipped:
		s.Skipped++
		outcome.Type, outcome.Text = "", "" // <skipped> has a message only
		c.Skipped = outcome
	default:
		s.Errors++
		c.Error = outcome
	}
	s.Cases = append(s.Cases, c)
}

// suiteName is `problem/checkpoint [solution @ backend]`, and the number of
// the repeat when it is not the first.
func suiteName(r row) string {
	name := r.cell.Problem
	if r.checkpoint.Name != "" {
		name += "/" + r.checkpoint.Name
	}
	name += fmt.Sprintf(" [%s @ %s]", r.cell.Solution, r.cell.Backend)
	if r.cell.Repeat > 1 {
		name += fmt.Sprintf(" #%d", r.cell.Repeat)
	}
	return name
}

func orName(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func junitTime(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }
