package page

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/draw"
)

// narrow is the width of figures on a phone, in pixels.
const narrow = 358

// sheet holds the figures of a page, which loads it when it shows the first one.
type sheet struct {
	Style   string   `json:"style"` // of figures in files
	Figures []figure `json:"figures"`
}

// figure is a figure drawn at two widths. web/src/data.ts has the same names.
type figure struct {
	Name    string        `json:"name"`
	Kind    string        `json:"kind"`             // such as "leaderboard"
	Axis    string        `json:"axis,omitempty"`   // axis of contenders; "" if it does not compare any
	Metric  string        `json:"metric,omitempty"` // "" if it depends on no metric
	Title   string        `json:"title"`
	Note    string        `json:"note"`
	Columns []string      `json:"columns"`
	Rows    [][]string    `json:"rows"`
	Wide    *draw.Drawing `json:"wide"`
	Narrow  *draw.Drawing `json:"narrow"`
}

// mostRows limits the data of a figure in the page; `report --format svg` writes all.
const mostRows = 5000

func sheetOf(all []plotted) sheet {
	s := sheet{Style: draw.Style(), Figures: []figure{}}
	for i := range all {
		f := &all[i]
		made := figure{f.Name, f.kind, f.axis, f.metric, f.Title, f.Note, f.Columns, f.Rows, f.Plot(draw.Width), f.Plot(narrow)}
		if len(made.Rows) > mostRows {
			made.Rows = made.Rows[:mostRows]
			made.Note += fmt.Sprintf(" The table here ends after %d rows.", mostRows)
		}
		if made.Rows == nil {
			made.Rows = [][]string{}
		}
		s.Figures = append(s.Figures, made)
	}
	return s
}

// plotted is a figure with its subject.
type plotted struct {
	draw.Figure
	kind, axis, metric string
}

// figures returns every figure that the runs have data for. boards are the contenders of the last run.
func (p *Page) figures(boards []*report.Contenders) []plotted {
	var all []plotted
	used := map[string]bool{}
	add := func(kind, axis, metric string, f draw.Figure, ok bool) {
		for base, n := f.Name, 2; used[f.Name]; n++ { // file names omit characters, so different labels can collide
			f.Name = fmt.Sprintf("%s-%d", base, n)
		}
		if ok {
			used[f.Name] = true
			all = append(all, plotted{f, kind, axis, metric})
		}
	}
	last := p.Runs[len(p.Runs)-1].Results
	var metrics []string
	for _, c := range boards {
		if c.By == "problem" {
			continue
		}
		add("leaderboard", c.By, c.Metric, c.LeaderboardFigure(), true)
		f, ok := c.PairsFigure()
		add("pairs", c.By, c.Metric, f, ok)
		if c.By == "solution" {
			metrics = append(metrics, c.Metric)
		}
	}
	f, ok := report.CheckpointsFigure(last)
	add("checkpoints", "", "", f, ok)
	matrix := report.MatrixOf(last)
	add("matrix", "", "", matrix.Figure(), len(last.Cells) > 0)
	add("spread", "", "", report.SpreadFigure(last, matrix), len(last.Cells) > 0)
	for _, metric := range metrics {
		for _, f := range report.TradeoffFigures(last, metric) {
			add("tradeoff", "", metric, f, true)
		}
	}
	history := slices.Clone(p.Before)
	for i := range p.Runs {
		history = append(history, report.NewHistoryPoint(p.Runs[i].ID, p.Runs[i].Results, p.Runs[i].Step))
	}
	for _, metric := range report.Metrics {
		f, ok := report.HistoryFigure(history, metric)
		add("history", "", metric, f, ok)
	}
	kinds := map[string][]float64{}
	for _, w := range p.Work {
		kinds[w.Kind] = append(kinds[w.Kind], w.Seconds)
	}
	f, ok = report.DurationsFigure(kinds)
	add("durations", "", "", f, ok)
	return all
}

// WriteFigures writes every figure into a directory, as NAME.svg, with its data as NAME.csv. It returns the
// file names.
func (p *Page) WriteFigures(dir string) ([]string, error) {
	var names []string
	write := func(name string, render func(io.Writer) error) error {
		names = append(names, name)
		return atomicfile.WriteFrom(filepath.Join(dir, name), 0o644, render)
	}
	err := os.MkdirAll(dir, 0o755)
	for _, f := range p.figures(contendersOf(p.Runs[len(p.Runs)-1].Results)) {
		if err != nil {
			break
		}
		err = errors.Join(
			write(f.Name+".svg", func(w io.Writer) error { return f.WriteSVG(w) }),
			write(f.Name+".csv", func(w io.Writer) error { return f.WriteCSV(w, report.CSVField) }))
	}
	if err != nil {
		return nil, fmt.Errorf("writing figures: %w", err)
	}
	slices.Sort(names)
	return names, nil
}
