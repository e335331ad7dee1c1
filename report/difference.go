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

// Difference is how two results differ.
type Difference struct {
	Before, After string // runs
	Same          int    // checkpoints with the same outcome and score
	NotAsked      int    // checkpoints that one side has and the other was not asked for
	Changes       []Change
	Metrics       []MetricChange
	Again         []Again // of Same: judged on other inputs
	// Foreign means that both sides are files of other programs, which record no inputs: an unknown cause is not
	// reported. Differs lists labels that differ between the sides.
	Foreign bool
	Differs []string
}

// Again counts checkpoints that were judged on other inputs with the same verdict.
type Again struct {
	Causes      []string
	Checkpoints int
}

// Differ compares two results.
func Differ(before, after *Results) *Difference {
	d := &Difference{Before: before.Run, After: after.Run, Changes: Changes(before, after), Metrics: MetricChanges(before, after)}
	d.Same = len(rowsOf(after))
	for _, c := range d.Changes {
		if c.Is != nil {
			d.Same--
		}
	}
	return d
}

// LeaveOut counts what only one side has as not asked for, where the other side is of a run that
// left out cells.
func (d *Difference) LeaveOut(before, after bool) {
	all := len(d.Changes)
	d.Changes = slices.DeleteFunc(d.Changes, func(c Change) bool { return before && c.Kind == ChangeNew || after && c.Kind == ChangeGone })
	d.NotAsked += all - len(d.Changes)
}

// Explain sets the cause of each stale checkpoint.
func (d *Difference) Explain(why func(*Change) string) {
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Kind == ChangeStale {
			c.Causes = nil
			if cause := why(c); cause != "" {
				c.Causes = []string{cause}
			}
		}
	}
}

// HasCauses reports whether there are changes whose cause manifests can tell.
func (d *Difference) HasCauses() bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Was != nil && c.Is != nil && c.Kind != ChangeStale })
}

// Sort puts changes in order again whose kinds were set.
func (d *Difference) Sort() { sortChanges(d.Changes) }

// Count is how many changes are of a kind.
func (d *Difference) Count(kind ChangeKind) (n int) {
	for _, c := range d.Changes {
		if c.Kind == kind {
			n++
		}
	}
	return n
}

// FirstFailure is the first test that does not pass and did not fail before; nil when there is none.
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
	Cause  string             `json:"cause"` // "" if it is unknown
	Causes []string           `json:"causes"`
	Kinds  map[ChangeKind]int `json:"changes"`
}

// Causes sums the changes up by cause, the most frequent first.
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

// Summary is "2 lost, 1 won, 12 the same, 3 not asked for".
func (d *Difference) Summary() string {
	counts := map[ChangeKind]int{}
	for _, c := range d.Changes {
		counts[c.Kind]++
	}
	summary := join(kindCounts(counts), fmt.Sprintf("%s the same", text.Thousands(d.Same)))
	if d.NotAsked > 0 {
		summary += fmt.Sprintf(", %s not asked for", text.Thousands(d.NotAsked))
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
	mostCauses   = 3 // are named in a line, unless all are wanted
	mostTests    = 3
)

// causeText returns the causes of a change, or some of them, in a line; "" if they are not reported.
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

// testText names tests in a line, or some of them.
func testText(tests []Test, all bool) string {
	names := testNames(tests)
	if len(names) > mostTests+1 && !all {
		names = append(names[:mostTests], fmt.Sprintf("and %d more", len(names)-mostTests))
	}
	return fmt.Sprintf("%d: %s", len(tests), strings.Join(names, ", "))
}

// WriteDifference writes a difference as a table does: to fit a page, and
// with all causes and tests if o.Verbose is set.
func WriteDifference(w io.Writer, d *Difference, o Options) error {
	var b strings.Builder
	colors := text.NewPalette(o.Color)
	fmt.Fprintf(&b, "%s -> %s: %s\n", text.Line(d.Before, 0), text.Line(d.After, 0), d.Summary())
	page := o.Page
	page.Fold = page.Fold || o.Verbose
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
				more("tests lost", testText(c.TestsLost, o.Verbose))
			}
			if len(c.TestsWon) > 0 {
				more("tests won", testText(c.TestsWon, o.Verbose))
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

// move is "passed -> failed".
func (c *Change) move() string {
	switch {
	case c.Was == nil:
		return c.After
	case c.Is == nil:
		return "was " + c.Before
	}
	return c.Before + " -> " + c.After
}

// WriteDifferenceMarkdown writes a difference as a page for a pull request or a README.
// What comes from elsewhere is code, so that it mentions no user and closes no issue.
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
