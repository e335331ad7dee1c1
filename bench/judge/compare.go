package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend/lightcp"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// comparison counts the results of compare.
type comparison struct {
	submissions, cases          int
	equal, explained, different int // submissions
	seconds                     float64
}

func (c *comparison) ok() bool { return c.different == 0 && c.submissions > 0 }

// compareFiles compares what submit saved with results of fevalgraph.
func compareFiles(path string, results []string, events string, out io.Writer) (bool, error) {
	theirs, err := readSaved(path)
	if err != nil {
		return false, err
	}
	var ours []*report.Results
	for _, path := range results {
		r, err := readResults(path)
		if err != nil {
			return false, err
		}
		ours = append(ours, r)
	}
	c := compare(theirs, ours, out)
	fmt.Fprintf(out, "%d submissions with %d cases compared: %d equal, %d explained, %d not explained\n",
		c.submissions, c.cases, c.equal, c.explained, c.different)
	fmt.Fprintf(out, "the server took %.1f s for one attempt at each\n", c.seconds)
	if events != "" {
		took, err := runSeconds(events)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(out, "fevalgraph took %.1f s, %.3f of that\n", took, took/c.seconds)
	}
	return c.ok(), nil
}

func readResults(path string) (*report.Results, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func compare(theirs *saved, ours []*report.Results, out io.Writer) *comparison {
	c := &comparison{}
	for i := range theirs.Submissions {
		s := &submission{Problem: theirs.Submissions[i].Problem, Solution: theirs.Submissions[i].Solution, Attempts: theirs.Submissions[i].judged()}
		c.submissions++
		c.seconds += s.Attempts[0].Seconds
		d := compareSubmission(s, find(ours, s.Problem, s.Solution))
		c.cases += d.cases
		switch {
		case len(d.lines) == 0:
			c.equal++
			continue
		case d.unexplained:
			c.different++
		default:
			c.explained++
		}
		for _, line := range d.lines {
			fmt.Fprintf(out, "%s %s: %s\n", s.Problem, s.Solution, line)
		}
	}
	for _, r := range ours[:1] {
		for _, cell := range r.Cells {
			if theirs.find(cell.Problem, cell.Solution) == nil && cell.Status != verdict.Skipped {
				c.different++
				fmt.Fprintf(out, "%s %s: only in fevalgraph's results\n", cell.Problem, cell.Solution)
			}
		}
	}
	return c
}

// find returns every cell of a submission: repeats, backends, results.
func find(results []*report.Results, problem, solution string) []*report.Cell {
	var cells []*report.Cell
	for _, r := range results {
		for i := range r.Cells {
			if cell := &r.Cells[i]; cell.Problem == problem && cell.Solution == solution {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

// difference describes a submission with differences.
type difference struct {
	cases       int
	lines       []string
	unexplained bool
}

func (d *difference) add(explained bool, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !explained {
		d.unexplained = true
		line = "DIFFERS: " + line
	}
	d.lines = append(d.lines, line)
}

func compareSubmission(s *submission, cells []*report.Cell) *difference {
	d := &difference{}
	cells = slices.DeleteFunc(slices.Clone(cells), func(cell *report.Cell) bool { return len(cell.Checkpoints) != 1 })
	if len(cells) == 0 {
		d.add(false, "not in fevalgraph's results")
		return d
	}
	first, cell := s.Attempts[0].Result, cells[0]
	point := &cell.Checkpoints[0]
	if first.Status != lightcp.Done {
		compiles := strings.HasPrefix(first.Error, "Error: compile failed:")
		switch {
		case compiles && point.Class == verdict.CompileError:
		default:
			d.add(false, "the server says %q, fevalgraph %s", firstLine(first.Error), described(cell))
		}
		return d
	}
	if len(point.Tests) != len(first.Cases) {
		d.add(false, "the server has %d cases, fevalgraph %d: %s", len(first.Cases), len(point.Tests), described(cell))
		return d
	}
	d.cases = len(first.Cases)
	for i := range first.Cases {
		compareCase(d, i, s, cells)
	}
	if len(d.lines) == 0 && (!same(first.Score, cell.Score) || !same(first.ScoreUnbounded, cell.ScoreUnbounded)) {
		d.add(false, "equal cases, but scores %s and %s there, %s and %s here",
			number(first.Score), number(first.ScoreUnbounded), number(cell.Score), number(cell.ScoreUnbounded))
	}
	return d
}

// outcome is the result of a case in one attempt.
type outcome struct{ ratio, unbounded *float64 }

func (o outcome) String() string { return number(o.ratio) + "/" + number(o.unbounded) }

func (o outcome) equal(p outcome) bool {
	return same(o.ratio, p.ratio) && same(o.unbounded, p.unbounded)
}

// compareCase records how a case differs, and whether that is explained.
func compareCase(d *difference, i int, s *submission, cells []*report.Cell) {
	var there, here []outcome
	for _, a := range s.Attempts {
		if i < len(a.Result.Cases) {
			there = append(there, outcome{a.Result.Cases[i].Ratio, a.Result.Cases[i].RatioUnbounded})
		}
	}
	for _, cell := range cells {
		if tests := cell.Checkpoints[0].Tests; i < len(tests) {
			here = append(here, outcome{tests[i].Ratio, tests[i].RatioUnbounded})
		}
	}
	if there[0].equal(here[0]) {
		return
	}
	their, our := s.Attempts[0].Result.Cases[i], cells[0].Checkpoints[0].Tests[i]
	common := slices.ContainsFunc(there, func(o outcome) bool { return slices.ContainsFunc(here, o.equal) })
	said := ""
	if our.Message != nil {
		said = firstLine(*our.Message)
	}
	reason := ""
	switch {
	case common:
		reason = "one of them does not agree with itself"
	case random(there) && len(earning(here)) > 0, random(here) && len(earning(there)) > 0:
		reason = "the program does something else each time"
	case our.Ratio == nil && our.Verdict == checkerFailed && their.Ratio != nil && *their.Ratio == 0:
		reason = "the checker failed, which is 0 there and no score here"
	}
	d.add(reason != "", "case %d: %s there (%.2f s, %q), %s here (%s, %.2f s, %q)%s", i+1,
		outcomes(there), float64(their.Time)/1e9, firstLine(their.Message),
		outcomes(here), our.Verdict, our.DurationMS/1e3, said, because(reason))
}

// random reports whether a case had different results at different times.
func random(all []outcome) bool {
	some := earning(all)
	return slices.ContainsFunc(some, func(o outcome) bool { return !o.equal(some[0]) })
}

// earning returns the outcomes with a ratio.
func earning(all []outcome) []outcome {
	return slices.DeleteFunc(slices.Clone(all), func(o outcome) bool { return o.ratio == nil || *o.ratio <= 0 })
}

// checkerFailed is the verdict on a case whose checker returned none.
const checkerFailed = "checker failed"

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func outcomes(all []outcome) string {
	texts := make([]string, len(all))
	for i, o := range all {
		texts[i] = o.String()
	}
	return strings.Join(texts, " then ")
}

func described(cell *report.Cell) string {
	text := fmt.Sprintf("%s, %s", cell.Status, cell.Checkpoints[0].Class)
	if m := cell.Checkpoints[0].Message; m != nil {
		text += fmt.Sprintf(", %q", firstLine(*m))
	}
	return text
}

// same compares numbers exactly; values that JSON lacks are equal.
func same(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b || math.IsNaN(*a) && math.IsNaN(*b)
}
