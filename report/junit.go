package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// The JUnit formats. In "junit", a checkpoint is a case, and the checkpoints of a cell are a suite: a reporter
// is green if fevalgraph is, also if tests fail that the policy ignores. In "junit-tests", a checkpoint is a
// suite, and a test is a case; what tests do not show about their checkpoint is an extra case, see caseOf.
// encoding/xml writes characters that XML 1.0 does not allow as U+FFFD.
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
		File    string        `xml:"file,attr,omitempty"`
		Time    string        `xml:"time,attr"` // seconds
		Failure *junitOutcome `xml:"failure"`
		Error   *junitOutcome `xml:"error"`
		Skipped *junitOutcome `xml:"skipped"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr,omitempty"` // one line, shortened
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"` // the whole text
	}
)

func writeJUnit(w io.Writer, r *Results, _ Options) error {
	var suites []junitSuite
	for i := range r.Cells {
		suites = append(suites, cellSuite(r.Run, &r.Cells[i]))
	}
	return writeSuites(w, append(suites, taskSuites(r)...), seconds(r))
}

func writeJUnitTests(w io.Writer, r *Results, _ Options) error {
	var suites []junitSuite
	for _, row := range rowsOf(r) {
		suites = append(suites, testSuite(r.Run, row))
	}
	return writeSuites(w, append(suites, taskSuites(r)...), seconds(r))
}

// taskSuites returns a suite with a case for each task, or none without tasks.
func taskSuites(r *Results) []junitSuite {
	if len(r.Tasks) == 0 {
		return nil
	}
	suite := junitSuite{Name: "tasks", Properties: []junitProperty{{"run", r.Run}}}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		suite.add(junitCase{Class: "task", Name: t.Name, Time: junitTime(t.Seconds)}, t.Verdict(), t.Outcome, orName(t.Message, t.Outcome))
	}
	suite.Time = junitTime(seconds(&Results{Tasks: r.Tasks}))
	return []junitSuite{suite}
}

// seconds returns the total time of all checkpoints and tasks.
func seconds(r *Results) (total float64) {
	for _, row := range rowsOf(r) {
		total += row.seconds()
	}
	for i := range r.Tasks {
		total += r.Tasks[i].Seconds
	}
	return total
}

func writeSuites(w io.Writer, suites []junitSuite, seconds float64) error {
	report := junitReport{Name: "fevalgraph", Suites: suites}
	report.Time = junitTime(seconds)
	for _, suite := range suites {
		report.Tests += suite.Tests
		report.Failures += suite.Failures
		report.Errors += suite.Errors
		report.Skipped += suite.Skipped
	}
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

// cellSuite returns a suite with a case for each checkpoint of a cell.
func cellSuite(run string, cell *Cell) junitSuite {
	one := &Results{Cells: []Cell{*cell}}
	whole := row{cell: cell, checkpoint: &Checkpoint{}}
	suite := junitSuite{Name: suiteName(whole)}
	suite.Time = junitTime(seconds(one))
	suite.Properties = []junitProperty{
		{"run", run}, {"problem", cell.Problem}, {"solution", cell.Solution}, {"backend", cell.Backend},
		{"repeat", strconv.Itoa(cell.Repeat)}, {"status", string(cell.Status)},
	}
	for _, row := range rowsOf(one) {
		c := row.checkpoint
		if caveat := c.Caveat(); caveat != "" {
			suite.Properties = append(suite.Properties, junitProperty{"caveat " + orName(c.Name, cell.Problem), caveat})
		}
		message := firstSaid(row)
		if own := row.message(); own != "" && c.Class != verdict.Judged {
			message = own
		}
		suite.add(junitCase{Class: caseClass(whole), Name: orName(c.Name, cell.Problem), Time: junitTime(row.seconds())},
			outcomeOf(c), string(c.Class), messageOr(&message, string(c.Class)))
	}
	return suite
}

// testSuite returns a suite with a case for each test of a checkpoint.
func testSuite(run string, row row) junitSuite {
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
	}{{"score", formatExact(c.Score) + c.ScoreText}, {"score_unbounded", formatExact(c.ScoreUnbounded) + c.ScoreUnboundedText}} {
		if score.value != "" {
			suite.Properties = append(suite.Properties, junitProperty{score.name, score.value})
		}
	}
	for _, t := range c.Tests {
		suite.add(junitCase{Class: caseClass(row), File: t.File, Name: t.ID, Time: junitTime(t.DurationMS / 1000)},
			junitVerdict(t.Status), orName(t.Verdict, string(t.Status)), messageOr(t.Message, ""))
	}
	if m := caseOf(c); m != nil {
		message := m.message
		if own := row.message(); own != "" {
			message = own
		}
		suite.add(junitCase{Class: caseClass(row), Name: orName(c.Name, cell.Problem), Time: junitTime(0)}, m.outcome, m.kind, message)
	}
	return suite
}

func junitVerdict(s verdict.TestStatus) verdict.Outcome {
	switch s {
	case verdict.TestPassed:
		return verdict.OutcomePassed
	case verdict.TestFailed:
		return verdict.OutcomeFailed
	case verdict.TestSkipped:
		return verdict.OutcomeSkipped
	}
	return verdict.OutcomeErrored
}

func (s *junitSuite) add(c junitCase, v verdict.Outcome, kind, message string) {
	outcome := &junitOutcome{Message: text.Cut(text.FirstLine(message), 200), Type: kind, Text: message}
	s.Tests++
	switch v {
	case verdict.OutcomePassed, verdict.OutcomeScored:
	case verdict.OutcomeFailed, verdict.OutcomeNotReached:
		s.Failures++
		c.Failure = outcome
	case verdict.OutcomeSkipped:
		s.Skipped++
		outcome.Type, outcome.Text = "", "" // <skipped> has only a message
		c.Skipped = outcome
	default:
		s.Errors++
		c.Error = outcome
	}
	s.Cases = append(s.Cases, c)
}

// suiteName returns `problem/checkpoint [solution @ backend]`, followed by the repeat if it is not the first.
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

// caseClass returns a unique class name for the cases of a row: GitLab and others keep only one of the cases
// with the same class and name.
func caseClass(r row) string { return rowName(r, true) }

func orName(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func junitTime(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }
