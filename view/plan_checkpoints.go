package view

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// mostPlanLines limits the lines of a plan, unless every node is requested.
const mostPlanLines = 20

// staleCheckpoint is a checkpoint of a cell with a stale node, or a stale task.
type staleCheckpoint struct {
	name, of, in string // with its solution; without it; its problem
	task         bool
	mark         string
	causes       []string
	category     string
}

func (c *staleCheckpoint) unit() string {
	if c.task {
		return "task"
	}
	return "checkpoint"
}

// cause names the first cause, and counts the others.
func (c *staleCheckpoint) cause() string {
	if len(c.causes) > 1 {
		return fmt.Sprintf("%s, and %s", c.causes[0], text.Count(len(c.causes)-1, "other cause"))
	}
	return strings.Join(c.causes, "")
}

// checkpointLines returns the lines of stale checkpoints, of nodes that no stale checkpoint needs, and sums.
func checkpointLines(nodes iter.Seq[PlanNode]) (s PlanSummary) {
	found, others := staleCheckpoints(nodes)
	causes := map[string]int{}
	for _, c := range found {
		causes[c.category]++
	}
	if len(found) == 0 { // such as of a plan for single nodes
		for _, n := range others {
			causes[n.Category]++
		}
	}
	for _, c := range found {
		if c.task {
			s.Tasks++
		}
	}
	s.Checkpoints, s.Causes = len(found)-s.Tasks, countCauses(causes)
	for _, n := range others {
		s.Lines = append(s.Lines, PlanLine{Mark: planMark(n.State), Addr: n.Addr, Cause: n.Cause})
	}
	s.Lines = truncate(append(groupedLines(found), s.Lines...))
	return s
}

// staleCheckpoints returns the checkpoints of cells that have stale nodes, in their order, and the stale
// nodes that belong to no checkpoint and that no stale checkpoint needs.
func staleCheckpoints(nodes iter.Seq[PlanNode]) (found []*staleCheckpoint, others []PlanNode) {
	byName := map[string]*staleCheckpoint{}
	cells := map[string]bool{} // with a stale checkpoint
	var bare []PlanNode        // cells without checkpoints, and inputs of tasks
	for n := range nodes {
		switch {
		case n.State == stateFresh || n.State == report.StateUnknown:
		case n.Checkpoint != "":
			c := byName[n.Checkpoint]
			if c == nil {
				c = &staleCheckpoint{name: n.Checkpoint, of: n.Of, in: n.In, task: n.Task, mark: planMark(n.RootState), category: n.RootCategory}
				byName[n.Checkpoint] = c
				found = append(found, c)
			}
			c.add(n)
			cells[n.Cell] = true
		case n.Cell != "":
			bare = append(bare, n)
		case !n.Feeds && n.Category != string(event.CauseFollows):
			others = append(others, n)
		}
	}
	if len(found) == 0 {
		return nil, append(others, feeding(nodes)...)
	}
	for _, n := range bare {
		if !cells[n.Cell] {
			others = append(others, n)
		}
	}
	return found, others
}

// feeding returns the stale nodes that other plans attribute to checkpoints, for a plan without stale
// checkpoints.
func feeding(nodes iter.Seq[PlanNode]) (found []PlanNode) {
	for n := range nodes {
		if n.State != stateFresh && n.State != report.StateUnknown && (n.Feeds || n.Cell != "" || n.Category == string(event.CauseFollows)) {
			found = append(found, n)
		}
	}
	return found
}

// add adds the cause of another node of the checkpoint. The cause of a node that cannot run outweighs
// others.
func (c *staleCheckpoint) add(n PlanNode) {
	blocked := func(mark string) bool { return mark == "!" || mark == "x" }
	switch mark := planMark(n.RootState); {
	case blocked(mark) && !blocked(c.mark):
		c.mark, c.category, c.causes = mark, n.RootCategory, nil
	case !blocked(mark) && blocked(c.mark):
		return
	}
	if cause := text.FirstLine(n.Root); !slices.Contains(c.causes, cause) { // a list of missing machine features can take a page
		c.causes = append(c.causes, cause)
	}
}

// groupedLines returns a line for each checkpoint or, if they are too many, for groups with one cause in a
// checkpoint, a problem, or the project, whichever is the first to be few enough. A reason why the machine
// cannot run several checkpoints of a problem has one line.
func groupedLines(found []*staleCheckpoint) (lines []PlanLine) {
	lacking := map[[2]string]int{}
	for _, c := range found {
		if c.mark == "!" {
			lacking[[2]string{c.in, c.cause()}]++
		}
	}
	for _, group := range []func(*staleCheckpoint) string{
		func(c *staleCheckpoint) string {
			if lacking[[2]string{c.in, c.cause()}] > 1 {
				return c.in
			}
			return c.name
		},
		func(c *staleCheckpoint) string { return c.of },
		func(c *staleCheckpoint) string { return c.in },
		func(*staleCheckpoint) string { return "" },
	} {
		if lines = linesBy(found, group); len(lines) <= mostPlanLines {
			break
		}
	}
	return lines
}

func linesBy(found []*staleCheckpoint, group func(*staleCheckpoint) string) (lines []PlanLine) {
	type unitLine struct {
		PlanLine
		unit string
	}
	counts, names, all := map[unitLine]int{}, map[unitLine]string{}, []unitLine{}
	for _, c := range found {
		line := unitLine{PlanLine{Mark: c.mark, Addr: group(c), Cause: c.cause()}, c.unit()}
		if counts[line]++; counts[line] == 1 {
			names[line], all = c.name, append(all, line)
		}
	}
	for _, line := range all {
		switch n := counts[line]; {
		case n == 1:
			line.Addr = names[line]
		case line.Addr == "":
			line.Addr = text.Count(n, line.unit)
		default:
			line.Addr = fmt.Sprintf("%s (%s)", line.Addr, text.Count(n, line.unit))
		}
		lines = append(lines, line.PlanLine)
	}
	return lines
}

// truncate truncates the list if it is still too long.
func truncate(lines []PlanLine) []PlanLine {
	if more := len(lines) - mostPlanLines; more > 1 {
		return append(lines[:mostPlanLines:mostPlanLines], PlanLine{Mark: "~", Addr: fmt.Sprintf("%d more lines", more), Cause: "-v lists all nodes"})
	}
	return lines
}
