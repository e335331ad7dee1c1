package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// extremeNumbers are numbers at the ends of float64, and ordinary ones.
var extremeNumbers = []float64{0, 1, -1, 1e308, -1e308, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 1e16, 1e16 + 2, 1e-300, 1e160}

// extremeResults returns results whose every number is one of extremeNumbers.
func extremeResults(random *rand.Rand, run string) *Results {
	r := &Results{Schema: Schema, Run: run}
	kinds := 1 + random.IntN(len(extremeNumbers))
	draw := func() *float64 { v := extremeNumbers[random.IntN(kinds)]; return &v }
	for problem := range 1 + random.IntN(10) {
		for _, solution := range []string{"x", "y", "z"} {
			for repeat := 1; repeat <= 1+random.IntN(2); repeat++ {
				c := Cell{Problem: fmt.Sprint("p", problem), Solution: solution, Backend: "local.host", Repeat: repeat, Status: verdict.Success, Score: draw(), ScoreUnbounded: draw(),
					Recorded: &Recorded{By: "other", Score: draw(), Valid: true, Comparable: true}}
				c.Checkpoints = []Checkpoint{{Class: verdict.Judged, Policy: string(verdict.NoRule), Score: c.Score, ScoreUnbounded: c.ScoreUnbounded, DurationMS: math.Abs(*draw()), Groups: verdict.NoTestCounts(),
					Figures: map[string]float64{"t.m": *draw()}}}
				r.Cells = append(r.Cells, c)
			}
		}
	}
	return r
}

// No format and no figure fails, hangs, or has a number that is not finite, whatever the finite numbers of results are.
func TestExtremes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		before, r := extremeResults(random, "1"), extremeResults(random, "2")
		check := func(what string, write func(w io.Writer) error) {
			t.Helper()
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, bad := range []string{"NaN", "Inf"} {
				if strings.Contains(b.String(), bad) {
					t.Fatalf("%s has %s", what, bad)
				}
			}
		}
		for _, name := range Formats() {
			check(name, func(w io.Writer) error { return Write(w, name, r, Options{Before: before}) })
		}
		for _, name := range GroupFormats() {
			check("groups as "+name, func(w io.Writer) error {
				return WriteGroups(w, name, r, []string{"solution"}, []int{1, 2}, Options{Verbose: true})
			})
		}
		d := Differ(before, r)
		check("difference", func(w io.Writer) error { return WriteDifference(w, d, Options{}) })
		check("difference as markdown", func(w io.Writer) error { return WriteDifferenceMarkdown(w, d) })
		check("difference as JSON", func(w io.Writer) error { return json.NewEncoder(w).Encode(d.Object()) })
		m := MatrixOf(r)
		figures := []draw.Figure{m.Figure(), SpreadFigure(r, m)}
		for _, metric := range Metrics {
			c, err := Compare(r, "solution", metric, nil, "")
			if err == nil {
				for _, name := range CompareFormats {
					check(metric+" as "+name, func(w io.Writer) error {
						return WriteContenders(w, name, c, Options{Verbose: true, Page: text.Page{Width: 80}})
					})
				}
				figures = append(figures, c.LeaderboardFigure())
				if f, ok := c.PairsFigure(); ok {
					figures = append(figures, f)
				}
			}
			figures = append(figures, TradeoffFigures(r, metric)...)
			if f, ok := HistoryFigure([]HistoryPoint{NewHistoryPoint("1", before, nil), NewHistoryPoint("2", r, d)}, metric); ok {
				figures = append(figures, f)
			}
		}
		if f, ok := DurationsFigure(map[string][]float64{"a": {math.MaxFloat64, math.MaxFloat64, 0, 1}}); ok {
			figures = append(figures, f)
		}
		for _, f := range figures {
			for _, width := range []float64{300, 900} {
				check(f.Name, func(w io.Writer) error { return json.NewEncoder(w).Encode(f.Plot(width)) })
			}
			check(f.Name, func(w io.Writer) error { return f.WriteSVG(w) })
		}
	}
}
