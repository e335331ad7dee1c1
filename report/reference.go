package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Reference is the result of a solution that a problem ships, next to the expected one. Score, Status and Message
// are those of one repeat: the first with an unexpected verdict, else the first without a verdict, else the first.
type Reference struct {
	Problem  string         `json:"problem"`
	Name     string         `json:"name"`
	Expect   string         `json:"expect"` // "pass", "fail" or a range of scores
	Wanted   *float64       `json:"wanted"` // lowest score with which a judge or command problem passes; null otherwise
	Got      string         `json:"got"`    // of the repeats that were judged; "" without any
	Score    *float64       `json:"score"`  // null without a score
	Status   verdict.Status `json:"status"`
	Reached  bool           `json:"reached"` // every repeat was judged, and as expected
	Message  *string        `json:"message"`
	Judged   int            `json:"judged"`          // repeats with a verdict
	Missed   int            `json:"missed"`          // repeats with an unexpected verdict
	Unjudged int            `json:"unjudged"`        // repeats without a verdict, such as for a machine's fault
	Flaky    []string       `json:"flaky,omitempty"` // what differs between repeats that were judged
	New      bool           `json:"new"`             // judged by this call; otherwise the results were stored
	Seconds  float64        `json:"seconds"`         // of all repeats together
}

// Fault returns the first fault that keeps r from what it must be, or "", with an outcome for reports.
func (r *Reference) Fault() (fault string, outcome verdict.Outcome) {
	switch {
	case r.Missed > 0:
		return "unexpected", verdict.OutcomeFailed
	case len(r.Flaky) > 0:
		return "flaky", verdict.OutcomeFailed
	case !r.Reached:
		return "not judged", verdict.OutcomeErrored
	}
	return "", verdict.OutcomePassed
}

// Expected returns the expected result in words.
func (r *Reference) Expected() string {
	if r.Wanted != nil {
		return fmt.Sprintf("score from %v", *r.Wanted)
	}
	return r.Expect
}

// detail explains a fault.
func (r *Reference) detail() string {
	if fault, _ := r.Fault(); fault == "" {
		return ""
	}
	said := slices.Clone(r.Flaky)
	if r.Message != nil {
		said = append(said, *r.Message)
	}
	return strings.Join(said, "; ")
}

// CountReferences returns how many references have a verdict that is not the expected one, differ between repeats,
// or are without a verdict.
func CountReferences(all []Reference) (missed, flaky, unjudged int) {
	for i := range all {
		r := &all[i]
		if r.Missed > 0 {
			missed++
		}
		if len(r.Flaky) > 0 {
			flaky++
		}
		if r.Unjudged > 0 || r.Judged == 0 {
			unjudged++
		}
	}
	return missed, flaky, unjudged
}

// byProblem calls do for each problem with its references.
func byProblem(all []Reference, do func(problem string, of []Reference)) {
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(r Reference) bool { return r.Problem != all[0].Problem })
		if n < 0 {
			n = len(all)
		}
		do(all[0].Problem, all[:n])
		all = all[n:]
	}
}

// referenceGrid is the table of a problem's references.
func referenceGrid(of []Reference, safe func(string) string) text.Grid {
	grid := text.Grid{Header: []string{"reference", "expected", "got", "repeats", "", "note"}, Right: []int{3}}
	for i := range of {
		r := &of[i]
		fault, _ := r.Fault()
		grid.Rows = append(grid.Rows, []string{safe(r.Name), safe(r.Expected()), safe(cmp.Or(r.Got, "-")), fmt.Sprint(r.Judged + r.Unjudged), cmp.Or(fault, "ok"), safe(r.detail())})
	}
	return grid
}

// WriteReferences writes a table for each problem.
func WriteReferences(w io.Writer, all []Reference, page text.Page) error {
	var b strings.Builder
	byProblem(all, func(problem string, of []Reference) {
		fmt.Fprintf(&b, "%s\n%s\n", text.Line(problem, 0), referenceGrid(of, func(s string) string { return text.Line(s, 0) }).WithoutBlank().On(page).Text())
	})
	_, err := io.WriteString(w, b.String())
	return err
}

// ReferencesMarker begins a comment about references, as CommentMarker does one about results.
const ReferencesMarker = "<!-- fevalgraph references -->"

// WriteReferencesComment writes Markdown of at most CommentLimit bytes: the tables of problems with a fault, then of
// the problems that this call judged, and the number of others.
func WriteReferencesComment(w io.Writer, all []Reference) error {
	missed, flaky, unjudged := CountReferences(all)
	p := page{left: CommentLimit - pageReserve}
	p.put(fmt.Sprintf("%s\n## References: %d of %d as expected", ReferencesMarker, len(all)-countFaults(all), len(all)))
	for _, one := range []struct {
		n    int
		word string
	}{{missed, "unexpected"}, {flaky, "flaky"}, {unjudged, "not judged"}} {
		if one.n > 0 {
			p.put(fmt.Sprintf(", %d %s", one.n, one.word))
		}
	}
	p.put("\n")
	var faulty, fresh []string
	others := 0
	byProblem(all, func(problem string, of []Reference) {
		table := fmt.Sprintf("\n### %s\n\n%s", text.Markdown(problem, 0), referenceGrid(of, func(s string) string { return text.Markdown(s, 300) }).WithoutBlank().Markdown())
		switch {
		case countFaults(of) > 0:
			faulty = append(faulty, table)
		case slices.ContainsFunc(of, func(r Reference) bool { return r.New }):
			fresh = append(fresh, table)
		default:
			others++
		}
	})
	p.list(append(faulty, fresh...))
	if others > 0 {
		p.put(fmt.Sprintf("\n%s as before.\n", text.Count(others, "problem")))
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

func countFaults(all []Reference) (n int) {
	for i := range all {
		if fault, _ := all[i].Fault(); fault != "" {
			n++
		}
	}
	return n
}

// WriteReferencesJUnit writes JUnit XML with a suite for each problem and a case for each reference.
func WriteReferencesJUnit(w io.Writer, all []Reference) error {
	var suites []junitSuite
	total := 0.0
	byProblem(all, func(problem string, of []Reference) {
		suite, took := junitSuite{Name: problem}, 0.0
		for i := range of {
			r := &of[i]
			fault, outcome := r.Fault()
			message := fmt.Sprintf("expected %s, got %s", r.Expected(), cmp.Or(r.Got, "no verdict"))
			if why := r.detail(); why != "" {
				message += ": " + why
			}
			suite.add(junitCase{Class: problem, Name: r.Name, Time: junitTime(r.Seconds)}, outcome, fault, message)
			took += r.Seconds
		}
		suite.Time = junitTime(took)
		total += took
		suites = append(suites, suite)
	})
	return writeSuites(w, suites, total)
}
