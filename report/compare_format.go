package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// CompareFormats lists the formats of WriteContenders.
var CompareFormats = []string{"table", "json", "markdown", "svg"}

// WriteContenders renders a comparison. An unknown format is an error that lists the supported ones.
func WriteContenders(w io.Writer, format string, c *Contenders, o Options) error {
	var b strings.Builder
	switch format {
	case "svg":
		f := c.LeaderboardFigure()
		return f.WriteSVG(w)
	case "json":
		return encoder(w).Encode(c.json())
	case "markdown":
		grid, pairs := c.grid(text.Markdown), c.pairGrid(o.Verbose, text.Markdown)
		fmt.Fprintf(&b, "%s\n\n%s\n%s%s", c.title(code), grid.Markdown(), c.groupsText(), pairs.Markdown())
		if lines := c.details(o.Verbose, text.Markdown); len(lines) > 0 {
			fmt.Fprintf(&b, "\n- %s\n", strings.Join(lines, "\n- "))
		}
	case "table":
		grid, pairs := c.grid(text.Line), c.pairGrid(o.Verbose, text.Line)
		grid, pairs = grid.On(o.Page), pairs.On(o.Page)
		fmt.Fprintf(&b, "%s\n\n%s\n%s%s", c.title(func(s string) string { return text.Line(s, 0) }), grid.Text(), c.groupsText(), pairs.Text())
		for i, line := range c.details(o.Verbose, text.Line) {
			if i == 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.Join(text.Fold(line, min(cmp.Or(o.Width, 80), 80)), "\n  ") + "\n")
		}
	default:
		return text.Unknown("format", format, CompareFormats)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// groupsText explains the letters of groups.
func (c *Contenders) groupsText() string {
	if c.Groups == nil {
		return ""
	}
	return "Those that share a letter do not differ significantly.\n\n"
}

// metricTitles are the titles of metrics.
var metricTitles = map[string]string{"solved": "Share of solved problems", "checkpoints": "Share of checkpoints that passed", "score": "Mean score", "unbounded": "Mean score without a bound"}

// title names the comparison, the cells that are left out, and the verdicts that are out of date.
func (c *Contenders) title(safe func(string) string) string {
	title := metricTitles[c.Metric] + ", by " + c.By
	if c.Lower {
		title += ", lower is better"
	}
	if c.Against >= 0 {
		title += ", against " + safe(c.All[c.Against].Name)
	}
	if of := cmp.Or(c.Of, c.Run); of != "" {
		title += ": " + safe(of)
	}
	if c.Unlabelled > 0 {
		title += fmt.Sprintf("\n%s left out: no label %s on their solutions.", text.Count(c.Unlabelled, "cell"), safe(c.By))
	}
	if c.Stale > 0 {
		title += fmt.Sprintf("\n%s stale; `fevalgraph status` shows which, and why.", text.Count(c.Stale, "verdict"))
	}
	return title
}

// grid returns the table of contenders.
func (c *Contenders) grid(safe func(string, int) string) text.Grid {
	figure := c.figures()
	g := text.Grid{Header: []string{"group", c.By, "mean", "95 % interval", "problems", "attempts", "no verdict"}, Right: []int{2, 4, 5, 6}}
	for i, one := range c.All {
		missing := "-"
		if one.Missing > 0 {
			missing = strconv.Itoa(one.Missing)
		}
		g.Rows = append(g.Rows, []string{c.Letters(i), safe(one.Name, nameColumns), figure(one.Mean), intervalText(one.Interval, figure), strconv.Itoa(one.Problems), strconv.Itoa(one.Attempts), missing})
	}
	g.Spare = []int{5}
	return g.Without(g.Blank(0, 6)...)
}

// Letters returns the groups of a contender: "a", "ab". From the 27th group on they are numbers.
func (c *Contenders) Letters(contender int) string {
	var all strings.Builder
	for i, group := range c.Groups {
		for _, member := range group {
			switch {
			case member != contender:
			case i < 26:
				all.WriteByte(byte('a' + i))
			default:
				fmt.Fprintf(&all, " %d", i+1)
			}
		}
	}
	return strings.TrimSpace(all.String())
}

// mostPairs limits the listed pairs. If there are more, only pairs of neighbours are listed by default.
const mostPairs = 15

// listedPairs returns the pairs to list.
func (c *Contenders) listedPairs(all bool) []*ContenderPair {
	var pairs []*ContenderPair
	for i := range c.Pairs {
		if p := &c.Pairs[i]; all || len(c.Pairs) <= mostPairs || p.B == p.A+1 {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// pairGrid returns the table of pairs. Differences that are not significant are marked by ~.
func (c *Contenders) pairGrid(all bool, safe func(string, int) string) text.Grid {
	p, figure := "p", c.figures()
	if len(c.Pairs) > 1 {
		p = "p (adj.)"
	}
	signed := signedBy(figure)
	g := text.Grid{Header: []string{"", "better", "than", "by", "95 % interval", p, "+/=/-"}, Right: []int{3}}
	for _, pair := range c.listedPairs(all) {
		mark := "~"
		if pair.Shown {
			mark = ">"
		}
		a, b, sign := pair.A, pair.B, 1.0
		counts := fmt.Sprintf("%d/%d/%d", pair.Better, pair.Equal, pair.Less)
		if pair.Difference < 0 != c.Lower && pair.Difference != 0 { // on their shared problems, B is better
			a, b, sign = b, a, -1
			counts = fmt.Sprintf("%d/%d/%d", pair.Less, pair.Equal, pair.Better)
		}
		row := []string{mark, safe(c.All[a].Name, nameColumns), safe(c.All[b].Name, nameColumns), "-", "-", "-", "none of both"}
		if pair.Problems > 0 {
			row[3], row[4], row[5], row[6] = signed(sign*pair.Difference), intervalText(turned(pair.Interval, sign), signed), pText(pair.Corrected), counts
		}
		g.Rows = append(g.Rows, row)
	}
	g.Footer = "+/=/-: problems where the better one scores higher, equal, lower."
	if c.Lower {
		g.Footer = "+/=/-: problems where the better one scores lower, equal, higher."
	}
	if left := len(c.Pairs) - len(g.Rows); left > 0 {
		g.Footer += fmt.Sprintf("\nThese are neighbours; %d more pairs are in -v and --json.", left)
	}
	return g
}

func turned(i statistics.Interval, sign float64) statistics.Interval {
	if sign < 0 {
		i.Low, i.High = -i.High, -i.Low
	}
	return i
}

// details returns what does not fit into the table, for each pair if all is set. Otherwise for a single pair,
// and for pairs that attempts without a verdict could reverse.
func (c *Contenders) details(all bool, safe func(string, int) string) []string {
	all = all || len(c.Pairs) == 1
	figure := c.figures()
	signed := signedBy(figure)
	var lines []string
	for _, note := range c.Notes {
		lines = append(lines, safe(note, 0))
	}
	if line := c.ClusterNote(); line != "" {
		lines = append(lines, line)
	}
	if line := c.tooFew(); line != "" {
		lines = append(lines, line)
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		var parts []string
		switch {
		case !all || p.Problems == 0 || !p.Shows:
		case math.IsNaN(p.Detectable):
			parts = append(parts, "all differences are equal, so their spread is unknown")
		default:
			parts = append(parts, fmt.Sprintf("a difference from %s on would be seen in 80 of 100 comparisons", figure(p.Detectable)))
		}
		if all && p.Single {
			parts = append(parts, fmt.Sprintf("one attempt each, McNemar's p is %s (%d against %d)", pText(p.McNemar), p.Better, p.Less))
		}
		if undone := p.Shown && !(p.Least > 0 || p.Most < 0); p.Missing > 0 && (all || undone) {
			missing := text.Count(p.Missing, "attempt") + " without a verdict"
			if !math.IsNaN(p.Least) {
				missing += fmt.Sprintf(", with which the difference is between %s and %s", signed(p.Least), signed(p.Most))
			}
			parts = append(parts, missing)
		}
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s - %s: %s", safe(c.All[p.A].Name, nameColumns), safe(c.All[p.B].Name, nameColumns), strings.Join(parts, "; ")))
		}
	}
	return lines
}

// tooFew reports the pairs with too few problems to show any difference, and how many are enough.
func (c *Contenders) tooFew() string {
	few, most := 0, 0
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.Problems > 0 && !p.Shows {
			few, most = few+1, max(most, cmp.Or(p.Clusters, p.Problems))
		}
	}
	if few == 0 {
		return ""
	}
	what := "problem"
	if c.Clusters > 0 {
		what = "cluster"
	}
	line := text.Count(most, what) + " can show no difference"
	if len(c.Pairs) > 1 {
		line += fmt.Sprintf(" among %d pairs", len(c.Pairs))
	}
	line += fmt.Sprintf("; %d can", max(most+1, statistics.ProblemsNeeded(len(c.Pairs))))
	if c.Against < 0 && len(c.All) > 2 && most >= statistics.ProblemsNeeded(len(c.All)-1) {
		line += ", and fewer pairs: --against NAME"
	}
	return line + "."
}

// figures returns the number format of the metric: percentages for shares, and for scores as many digits as
// distinguish their means.
func (c *Contenders) figures() func(float64) string {
	if c.Metric == "solved" || c.Metric == "checkpoints" {
		return func(v float64) string {
			if math.IsNaN(v) {
				return "-"
			}
			v = math.Round(1000*v) / 10
			return strconv.FormatFloat(v+0, 'f', 1, 64) + " %" // +0 turns -0 into 0
		}
	}
	var means []float64
	for _, one := range c.All {
		if one.Problems > 0 {
			means = append(means, one.Mean)
		}
	}
	return text.Figures(means)
}

// signedBy formats a difference, with "+" if it is positive.
func signedBy(figure func(float64) string) func(float64) string {
	zero := figure(0)
	return func(v float64) string {
		s := figure(v)
		if v > 0 && s != zero {
			return "+" + s
		}
		return s
	}
}

func intervalText(i statistics.Interval, figure func(float64) string) string {
	if !i.Known {
		return "~"
	}
	return strings.TrimSuffix(figure(i.Low), " %") + " to " + strings.TrimSuffix(figure(i.High), " %")
}

func pText(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// contenderJSON and pairJSON are the output of compare --json. Unknown values are null.
type contenderJSON struct {
	Name     string      `json:"name"`
	Groups   []int       `json:"groups"`
	Mean     *float64    `json:"mean"`
	Interval *[2]float64 `json:"interval"`
	Problems int         `json:"problems"`
	Attempts int         `json:"attempts"`
	Missing  int         `json:"without_verdict"`
}

type pairJSON struct {
	A          string      `json:"a"`
	B          string      `json:"b"`
	Problems   int         `json:"problems"`
	Clusters   int         `json:"clusters,omitempty"` // of these problems, if they count instead
	Difference *float64    `json:"difference"`
	Interval   *[2]float64 `json:"interval"`
	P          float64     `json:"p"`
	Exact      bool        `json:"exact"`
	Corrected  float64     `json:"p_corrected"`
	Shown      bool        `json:"shown"`
	Better     int         `json:"better"`
	Equal      int         `json:"equal"`
	Less       int         `json:"less"`
	McNemar    *float64    `json:"mcnemar_p"`
	Detectable *float64    `json:"detectable"`
	Shows      bool        `json:"can_show"`
	Missing    int         `json:"without_verdict"`
	Bounds     *[2]float64 `json:"bounds"`
}

// ContendersObject encodes a comparison as JSON.
type ContendersObject struct {
	Schema       int             `json:"schema"`
	Run          string          `json:"run"`
	Of           string          `json:"of"`
	Stale        int             `json:"stale"`
	By           string          `json:"by"`
	Against      *string         `json:"against"` // null if all pairs are compared
	WithoutLabel int             `json:"without_label"`
	Metric       string          `json:"metric"`
	Lower        bool            `json:"lower_is_better,omitempty"`
	Clusters     int             `json:"clusters,omitempty"` // of problems, which count instead of these
	Confidence   float64         `json:"confidence"`
	Contenders   []contenderJSON `json:"contenders"`
	Pairs        []pairJSON      `json:"pairs"`
	Notes        []string        `json:"notes,omitempty"` // of compared files
}

func (c *Contenders) json() *ContendersObject {
	contenders, pairs := []contenderJSON{}, []pairJSON{}
	known := func(v float64, is bool) *float64 {
		if !is || math.IsNaN(v) {
			return nil
		}
		return &v
	}
	ends := func(i statistics.Interval) *[2]float64 {
		if !i.Known {
			return nil
		}
		return &[2]float64{i.Low, i.High}
	}
	for i, one := range c.All {
		j := contenderJSON{Name: one.Name, Groups: []int{}, Mean: known(one.Mean, one.Problems > 0), Interval: ends(one.Interval), Problems: one.Problems, Attempts: one.Attempts, Missing: one.Missing}
		for g, group := range c.Groups {
			for _, member := range group {
				if member == i {
					j.Groups = append(j.Groups, g)
				}
			}
		}
		contenders = append(contenders, j)
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		pairs = append(pairs, pairJSON{A: c.All[p.A].Name, B: c.All[p.B].Name, Problems: p.Problems, Clusters: p.Clusters, Difference: known(p.Difference, p.Problems > 0), Interval: ends(p.Interval),
			P: p.P, Exact: p.Exact, Corrected: p.Corrected, Shown: p.Shown, Better: p.Better, Equal: p.Equal, Less: p.Less, McNemar: known(p.McNemar, p.Single),
			Detectable: known(p.Detectable, true), Shows: p.Shows, Missing: p.Missing, Bounds: ends(statistics.Interval{Low: p.Least, High: p.Most, Known: !math.IsNaN(p.Least)})})
	}
	var against *string
	if c.Against >= 0 {
		against = &c.All[c.Against].Name
	}
	return &ContendersObject{Schema: Schema, Run: c.Run, Of: c.Of, Stale: c.Stale, By: c.By, Against: against, WithoutLabel: c.Unlabelled, Metric: c.Metric, Lower: c.Lower, Clusters: c.Clusters, Confidence: 1 - statistics.Level, Contenders: contenders, Pairs: pairs, Notes: c.Notes}
}
