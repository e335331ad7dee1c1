package describe

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/release"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// ReleaseObject is the JSON of release.
type ReleaseObject = release.Release

// releaseRow is a row in a table of problems.
type releaseRow struct{ class, problem, version, reason string }

// releaseRows returns the rows of problems: one for each checkpoint, unless all are equal.
func releaseRows(r *release.Release, whole bool) (rows []releaseRow) {
	for i := range r.Problems {
		p := &r.Problems[i]
		if p.Class == release.Reuse && p.Version.Wrong == "" && !whole {
			continue
		}
		row := releaseRow{string(p.Class), p.Name, versionText(&p.Version), p.Version.Wrong}
		if alike(p.Checkpoints) {
			if len(p.Checkpoints) > 0 {
				row.reason = joined(reasonText(p.Checkpoints[0].Reason), p.Version.Wrong)
			}
			rows = append(rows, row)
			continue
		}
		rows = append(rows, row)
		for _, c := range p.Checkpoints {
			rows = append(rows, releaseRow{"  " + string(c.Class), p.Name + "/" + c.Name, "", reasonText(c.Reason)})
		}
	}
	return rows
}

func alike(all []release.Checkpoint) bool {
	for _, c := range all {
		if c.Class != all[0].Class || reasonText(c.Reason) != reasonText(all[0].Reason) {
			return false
		}
	}
	return true
}

func joined(parts ...string) string {
	var all []string
	for _, part := range parts {
		if part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, "; ")
}

func reasonText(r *release.Reason) string {
	if r == nil {
		return ""
	}
	said := r.String()
	if r.More > 0 {
		said += fmt.Sprintf(", and %s", text.Count(r.More, "other change"))
	}
	return said
}

func versionText(v *release.Version) string {
	said := cmp.Or(v.New, v.Old, "none")
	if v.Old != "" && v.New != "" && v.Old != v.New {
		said = v.Old + " -> " + v.New
	}
	if v.Wrong != "" {
		said += ", needs " + cmp.Or(v.Next(), "a "+string(v.Needs)+" one")
	}
	return said
}

// Release formats a release as text. Reused problems are only counted, unless whole is set.
func Release(r *release.Release, page text.Page, whole bool) string {
	var b strings.Builder
	if rows := releaseRows(r, whole); len(rows) > 0 {
		grid := text.Grid{Header: []string{"is", "problem", "version", "because"}}
		for _, row := range rows {
			grid.Rows = append(grid.Rows, []string{text.Line(row.class, 0), text.Line(row.problem, 0), text.Line(row.version, 0), text.Line(row.reason, 0)})
		}
		b.WriteString(grid.On(page).Text())
	}
	var again [][]string
	for _, t := range r.Trials {
		if t.Class == release.Rerun {
			again = append(again, []string{text.Line(t.Name, 0), text.Line(t.Agent, 0), text.Line(t.Model, 0), costText(t.Cost), text.Line(t.Why, 0)})
		}
	}
	if len(again) > 0 {
		grid := text.Grid{Header: []string{"must run again", "agent", "model", "cost $", "why"}, Rows: again, Right: []int{3}}
		b.WriteString("\n" + grid.On(page).Text())
	}
	safe := func(s string) string { return text.Line(s, 0) }
	for _, grid := range gradedGrids(r, safe) {
		b.WriteString("\n" + grid.On(page).Text())
	}
	for _, line := range releaseSums(r, safe) {
		b.WriteString(strings.Join(text.Fold(line, max(page.Width, 40)), "\n") + "\n")
	}
	return b.String()
}

func costText(cost *float64) string {
	if cost == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *cost)
}

// gradedGrids returns the tables of a release whose trials were graded again: the leaderboards before and after, and
// scores that moved, by cause.
func gradedGrids(r *release.Release, safe func(string) string) (all []text.Grid) {
	if len(r.Board) > 0 {
		grid := text.Grid{Header: []string{"agent", "model", "trials", "before", "after", "difference", "95% interval", "run again"}, Right: []int{2, 3, 4, 5, 7}}
		for _, s := range r.Board {
			interval := "too few problems"
			switch {
			case s.Low != nil && s.High != nil:
				interval = fmt.Sprintf("%+.3f to %+.3f", *s.Low, *s.High)
			case s.Difference == 0:
				interval = ""
			}
			row := []string{safe(s.Agent), safe(s.Model), fmt.Sprint(s.Trials), "-", "-", "-", interval, fmt.Sprint(s.Again)}
			if s.Trials > 0 {
				row[3], row[4], row[5] = fmt.Sprintf("%.3f", s.Before), fmt.Sprintf("%.3f", s.After), fmt.Sprintf("%+.3f", s.Difference)
			}
			grid.Rows = append(grid.Rows, row)
		}
		all = append(all, grid)
	}
	if len(r.Moved) > 0 {
		grid := text.Grid{Header: []string{"scores moved by", "lost", "won"}, Right: []int{1, 2}}
		for _, m := range r.Moved {
			grid.Rows = append(grid.Rows, []string{safe(m.Cause), fmt.Sprint(m.Lower), fmt.Sprint(m.Higher)})
		}
		all = append(all, grid)
	}
	return all
}

// releaseSums returns the totals of a release as lines.
func releaseSums(r *release.Release, safe func(string) string) (lines []string) {
	var problems, trials []string
	for _, w := range r.Work {
		if w.Problems > 0 {
			problems = append(problems, fmt.Sprintf("%d %s", w.Problems, w.Class))
		}
		if w.Trials == 0 {
			continue
		}
		said := fmt.Sprintf("%d %s", w.Trials, w.Class)
		if w.Class == release.Rerun {
			said += fmt.Sprintf(" (cost $%.2f", w.Cost)
			if w.Unknown > 0 {
				said += fmt.Sprintf(", of %d not known", w.Unknown)
			}
			said += ")"
		}
		trials = append(trials, said)
	}
	line := "problems: " + cmp.Or(strings.Join(problems, ", "), "none")
	if n := r.Wrong(); n > 0 {
		line += fmt.Sprintf("; %s", text.Count(n, "wrong version"))
	}
	lines = append(lines, line)
	if r.Ungraded > 0 {
		trials = append(trials, fmt.Sprintf("%d could not be graded", r.Ungraded))
	}
	if len(trials) > 0 {
		lines = append(lines, "trials: "+strings.Join(trials, ", "))
	}
	if n := len(r.Unloadable); n > 0 {
		lines = append(lines, fmt.Sprintf("%s cannot be loaded in either version, so only files were compared: %s", text.Count(n, "problem"), safe(text.Some(r.Unloadable, 4))))
	}
	switch len(r.Tags) {
	case 0:
	case 1:
		lines = append(lines, fmt.Sprintf("image %s is a tag; no trial records which image that was", safe(r.Tags[0])))
	default:
		lines = append(lines, fmt.Sprintf("images %s are tags; no trial records which images those were", safe(text.Some(r.Tags, 4))))
	}
	return lines
}

// ReleaseMarkdown formats a release as Markdown.
func ReleaseMarkdown(r *release.Release) string {
	const longest = 300
	var b strings.Builder
	fmt.Fprintf(&b, "### %s → %s\n\n", text.Markdown(r.Old, longest), text.Markdown(r.New, longest))
	grid := text.Grid{Header: []string{"is", "problem", "version", "because"}}
	for _, row := range releaseRows(r, false) {
		grid.Rows = append(grid.Rows, []string{strings.TrimSpace(row.class), text.Markdown(row.problem, longest), text.Markdown(row.version, longest), text.Markdown(row.reason, longest)})
	}
	if len(grid.Rows) > 0 {
		b.WriteString(grid.Markdown() + "\n")
	}
	safe := func(s string) string { return text.Markdown(s, longest) }
	for _, grid := range gradedGrids(r, safe) {
		b.WriteString(grid.Markdown() + "\n")
	}
	for _, line := range releaseSums(r, safe) {
		b.WriteString("- " + line + "\n")
	}
	return b.String()
}
