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

// Difference is the result of comparing two results.
type Difference struct {
	Before, After string // run ids
	Same          int    // checkpoints and tasks with the same outcome and score
	NotAsked      int    // checkpoints of one side that the other did not select
	Changes       []Change
	Metrics       []MetricChange
	Again         []Again // part of Same: judged on other inputs
	// Foreign means that both sides are files of other programs, which record no inputs: an unknown cause is not
	// reported. Differs lists labels that differ between the sides.
	Foreign bool
	Differs []string
}

// Again counts checkpoints whose verdict stayed the same on other inputs.
type Again struct {
	Causes      []string
	Checkpoints int
}

// Differ returns the difference of two results.
func Differ(before, after *Results) *Difference {
	d := &Difference{Before: before.Run, After: after.Run, Changes: Changes(before, after), Metrics: MetricChanges(before, after)}
	d.Same = len(judgedRows(after))
	for _, c := range d.Changes {
		if c.Is != nil {
			d.Same--
		}
	}
	return d
}

// LeaveOut counts checkpoints that only one side has as not selected, if the run of the other side left out
// cells.
func (d *Difference) LeaveOut(before, after bool) {
	all := len(d.Changes)
	d.Changes = slices.DeleteFunc(d.Changes, func(c Change) bool { return before && c.Kind == ChangeNew || after && c.Kind == ChangeGone })
	d.NotAsked += all - len(d.Changes)
}

// Explain sets the cause of each stale checkpoint.
func (d *Difference) Explain(why func(*Change) string) {
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Kind == ChangeStale && c.Task == nil {
			c.Causes = nil
			if cause := why(c); cause != "" {
				c.Causes = []string{cause}
			}
		}
	}
}

// HasCauses reports whether there are changes whose cause can be read from manifests.
func (d *Difference) HasCauses() bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Was != nil && c.Is != nil && c.Kind != ChangeStale })
}

// Sort restores the order of changes after their kinds were set.
func (d *Difference) Sort() { sortChanges(d.Changes) }

// Count returns the number of changes of a kind.
func (d *Difference) Count(kind ChangeKind) (n int) {
	for _, c := range d.Changes {
		if c.Kind == kind {
			n++
		}
	}
	return n
}

// FirstFailure returns the first failing test that did not fail before, or nil.
func (c *Change) FirstFailure() *Test {
	if c.Is == nil || !c.Worse() && c.Kind != ChangeFlaky && c.Kind != ChangeChanged {
		return nil
	}
	failed := map[string]bool{}
	if c.Was != nil {
		for i := range c.Was.Tests {
			if t := &c.Was.Tests[i]; fails(t) {
				failed[t.name()] = true
			}
		}
	}
	for i := range c.Is.Tests {
		if t := &c.Is.Tests[i]; fails(t) && !failed[t.name()] {
			return t
		}
	}
	return nil
}

// CauseCount counts the changes with the same causes.
type CauseCount struct {
	Cause  string             `json:"cause"` // "" if unknown
	Causes []string           `json:"causes"`
	Kinds  map[ChangeKind]int `json:"changes"`
}

// Causes counts changes by cause, the most frequent first.
func (d *Difference) Causes() []CauseCount {
	at := map[string]int{}
	var all []CauseCount
	totals := map[string]int{}
	for _, c := range d.Changes {
		if c.Kind == ChangeNew || c.Kind == ChangeGone {
			continue
		}
		cause := c.Cause()
		if cause == "" && d.Foreign {
			continue
		}
		i, known := at[cause]
		if !known {
			i = len(all)
			at[cause] = i
			all = append(all, CauseCount{Cause: cause, Causes: append([]string{}, c.Causes...), Kinds: map[ChangeKind]int{}})
		}
		all[i].Kinds[c.Kind]++
		totals[cause]++
	}
	slices.SortStableFunc(all, func(a, b CauseCount) int { return cmp.Compare(totals[b.Cause], totals[a.Cause]) })
	return all
}

// Summary returns a line such as "2 lost, 1 won, 12 the same, 3 not selected".
func (d *Difference) Summary() string {
	counts := map[ChangeKind]int{}
	for _, c := range d.Changes {
		counts[c.Kind]++
	}
	summary := join(kindCounts(counts), fmt.Sprintf("%s the same", text.Thousands(d.Same)))
	if d.NotAsked > 0 {
		summary += fmt.Sprintf(", %s not selected", text.Thousands(d.NotAsked))
	}
	return summary
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

func kindCounts(counts map[ChangeKind]int) string {
	var parts []string
	for _, kind := range ChangeKinds {
		if n := counts[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", text.Thousands(n), kind))
		}
	}
	return strings.Join(parts, ", ")
}

const (
	unknownCause = "cause unknown"
	mostCauses   = 3 // shown in a line by default
	mostTests    = 3
)

// causeText returns the causes of a change in one line, shortened unless all is set; "" if they are not reported.
func (d *Difference) causeText(causes []string, all bool) string {
	if len(causes) == 0 && d.Foreign {
		return ""
	}
	return causeText(causes, all)
}

func causeText(causes []string, all bool) string {
	if len(causes) > mostCauses+1 && !all {
		causes = append(slices.Clone(causes[:mostCauses]), fmt.Sprintf("and %d more", len(causes)-mostCauses))
	}
	return cmp.Or(strings.Join(causes, ", "), unknownCause)
}

// testText returns the names of tests in one line, shortened unless all is set.
func (c *Change) testText(tests []Test, all bool) string {
	names := testNames(tests)
	was, is := c.Was.testsByName(), c.Is.testsByName()
	for i, name := range names {
		switch {
		case was[name] == nil:
			names[i] += " (new)"
		case is[name] == nil:
			names[i] += " (gone)"
		}
	}
	if len(names) > mostTests+1 && !all {
		names = append(names[:mostTests], fmt.Sprintf("and %d more", len(names)-mostTests))
	}
	return fmt.Sprintf("%d: %s", len(tests), strings.Join(names, ", "))
}

// WriteDifference writes a difference as text that fits a page. With o.Verbose it lists all causes and tests.
func WriteDifference(w io.Writer, d *Difference, o Options) error {
	var b strings.Builder
	colors := text.NewPalette(o.Color)
	fmt.Fprintf(&b, "%s -> %s: %s\n", text.Line(d.Before, 0), text.Line(d.After, 0), d.Summary())
	page := o.Page
	for _, label := range d.Differs {
		fmt.Fprintf(&b, "%s\n", page.Line(label, 0))
	}
	for _, a := range d.Again {
		begin := fmt.Sprintf("judged again, same verdict: %s, ", text.Thousands(a.Checkpoints))
		fmt.Fprintf(&b, "%s%s\n", begin, page.Line(causeText(a.Causes, o.Verbose), len(begin)))
	}
	for i := range d.Changes {
		c := &d.Changes[i]
		mark, paint := "~", colors.Doubt
		switch {
		case c.Worse() || c.Kind == ChangeGone:
			mark, paint = "-", colors.Bad
		case c.Kind == ChangeWon || c.Kind == ChangeNew || c.Kind == ChangeJudged:
			mark, paint = "+", colors.Good
		}
		fmt.Fprintf(&b, "\n%s %s  %s\n", paint(fmt.Sprintf("%s %-7s", mark, c.Kind)), colors.Strong(text.Line(c.Name, 0)), c.move())
		more := func(label, said string) {
			fmt.Fprintf(&b, "    %-10s  %s\n", label, page.Line(said, 16))
		}
		if cause := d.causeText(c.Causes, o.Verbose); c.Was != nil && c.Is != nil && cause != "" {
			more("cause", cause)
		}
		if c.Kind == ChangeChanged || o.Verbose {
			if len(c.TestsLost) > 0 {
				more("tests lost", c.testText(c.TestsLost, o.Verbose))
			}
			if len(c.TestsWon) > 0 {
				more("tests won", c.testText(c.TestsWon, o.Verbose))
			}
		}
		if t := c.FirstFailure(); t != nil {
			more("first test", t.name())
			if said := testError(t); said != "" {
				more("", said)
			}
		} else if c.Worse() && c.Is.Message != nil && (!strings.Contains(*c.Is.Message, c.Cause()) || d.Foreign && c.Is.Class != verdict.Judged) {
			more("message", text.FirstLine(*c.Is.Message))
		}
	}
	b.WriteString(d.metricLines(page))
	if causes := d.Causes(); len(causes) > 0 {
		b.WriteString("\nBy cause:\n")
		for _, c := range causes {
			counts := kindCounts(c.Kinds)
			fmt.Fprintf(&b, "  %s  %s\n", counts, page.Line(causeText(c.Causes, o.Verbose), len(counts)+4))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// move returns a text such as "passed -> failed".
func (c *Change) move() string {
	switch {
	case c.Was == nil:
		return c.After
	case c.Is == nil:
		return "was " + c.Before
	}
	return c.Before + " -> " + c.After
}

// WriteDifferenceMarkdown writes a difference as Markdown for a pull request or a README. Text from elsewhere
// is inline code, so that it mentions no user and closes no issue.
func WriteDifferenceMarkdown(w io.Writer, d *Difference) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** from %s to %s\n", d.Summary(), code(d.Before), code(d.After))
	for _, label := range d.Differs {
		fmt.Fprintf(&b, "\n%s\n", code(label))
	}
	if len(d.Changes) > 0 {
		b.WriteString("\n| | checkpoint | before | now | cause |\n| --- | --- | --- | --- | --- |\n")
	}
	for _, c := range d.Changes {
		cause := ""
		if said := d.causeText(c.Causes, false); c.Was != nil && c.Is != nil && said != "" {
			cause = code(said)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Kind, bar.Replace(code(c.Name)), code(cmp.Or(c.Before, "-")), code(cmp.Or(c.After, "-")), bar.Replace(cause))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
