package selection

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// resultAxes lists the axes of selectors for results, besides labels.
var resultAxes = []string{"problem", "checkpoint", "solution", "backend", "suite", "repeat", "verdict", "task", ModelAxis}

// Pick returns the checkpoints and tasks that selectors match: by names of cells and their grading nodes, by
// addresses of tasks, or by axis. Results contain no tags and no kinds of nodes.
func Pick(r *report.Results, args []string) (*report.Results, error) {
	if len(args) == 0 {
		return r, nil
	}
	names := slices.Clone(resultAxes)
	for i := range r.Cells {
		for label := range maps.Keys(r.Cells[i].Labels) {
			names = append(names, LabelPrefix+label)
		}
	}
	slices.Sort(names)
	selector, err := graph.Syntax{Axes: slices.Compact(names), Expand: Expander(func() Known { return knownOf(r) })}.Parse(args)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	picked := &report.Results{Schema: r.Schema, Run: r.Run, Cells: []report.Cell{}}
	for i := range r.Cells {
		cell := &r.Cells[i]
		whole := false
		narrowed, any := plan.Narrow(*cell, func(addr string, c *report.Checkpoint) bool {
			match := selector.Match(addr, func(axis string) []string { return resultValues(cell, c, axis) })
			whole = whole || match && c == nil
			return match
		})
		switch {
		case whole:
			picked.Cells = append(picked.Cells, *cell)
		case any:
			picked.Cells = append(picked.Cells, narrowed)
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if selector.Match(t.Address(), func(axis string) []string { return taskValues(t, axis) }) {
			picked.Tasks = append(picked.Tasks, *t)
		}
	}
	if len(r.Cells)+len(r.Tasks) == 0 {
		return nil, exit.Unmatched("run %s has no results, since it selected nothing with a verdict", r.Run)
	}
	if len(picked.Cells)+len(picked.Tasks) == 0 {
		known := knownOf(r)
		of := ""
		if r.Run != "" {
			of = " of run " + r.Run
		}
		return nil, exit.Unmatched("%s matches no result%s%s; known are %s", strings.Join(args, " "), of, known.DidYouMean(args), known.Summary())
	}
	return picked, nil
}

// knownOf returns the names in results.
func knownOf(r *report.Results) Known {
	known := Known{}
	for i := range r.Cells {
		c := &r.Cells[i]
		known.Add("problem", c.Problem)
		known.Add("solution", c.Solution)
		known.Add("backend", c.Backend)
		for _, suite := range c.Suites {
			known.Add("suite", suite)
		}
		for _, checkpoint := range c.Checkpoints {
			known.Add("checkpoint", checkpoint.Name)
		}
	}
	for i := range r.Tasks {
		known.Add("task", r.Tasks[i].Name)
	}
	return known
}

// taskValues returns the values of a task on an axis.
func taskValues(t *report.Task, axis string) []string {
	switch axis {
	case "task":
		return []string{t.Name}
	case "verdict":
		return []string{t.Outcome}
	}
	return nil
}

// resultValues returns the values of a result on an axis; c is nil for a whole cell.
func resultValues(cell *report.Cell, c *report.Checkpoint, axis string) []string {
	switch axis {
	case "problem":
		return []string{cell.Problem}
	case "solution":
		return []string{cell.Solution}
	case "backend":
		return []string{cell.Backend}
	case "repeat":
		return []string{strconv.Itoa(cell.Repeat)}
	case "suite":
		return cell.Suites
	case ModelAxis:
		axis = LabelPrefix + ModelAxis
	}
	if label, ok := strings.CutPrefix(axis, LabelPrefix); ok {
		if value, has := cell.Labels[label]; has {
			return []string{value}
		}
		return nil
	}
	switch {
	case c == nil, axis == "task":
		return nil
	case axis == "checkpoint":
		return []string{c.Name}
	}
	return VerdictWords(*c)
}

// VerdictWords returns the words of selectors for a verdict: passed or failed, with the short forms pass and
// fail; scored without a pass rule; and the class and status of a checkpoint that was not judged.
func VerdictWords(last report.Checkpoint) []string {
	c := last.Current()
	words := []string{"failed", "fail"}
	switch {
	case c.Passed:
		words = []string{"passed", "pass"}
	case c.Class == verdict.Judged && !c.Ruled():
		words = []string{"scored"}
	}
	if class := c.ShownClass(); class != verdict.Judged {
		words = append(words, string(class), string(class.Status()))
	}
	if c.State != "" {
		words = append(words, c.State)
	}
	return words
}
