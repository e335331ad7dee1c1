package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// passes returns a cell whose checkpoints pass where the letters are p.
func passes(problem, solution string, repeat int, letters string) Cell {
	c := Cell{Problem: problem, Solution: solution, Backend: "local.host", Repeat: repeat, Status: verdict.Success}
	for i, letter := range letters {
		c.Checkpoints = append(c.Checkpoints, Checkpoint{Name: string(rune('a' + i)), Class: verdict.Judged, Policy: string(verdict.CoreCases), Passed: letter == 'p', DurationMS: 1000, Groups: verdict.NoTestCounts()})
	}
	return c
}

func scores(problem, solution string, score float64) Cell {
	c := Cell{Problem: problem, Solution: solution, Backend: "local.host", Repeat: 1, Status: verdict.Success, Score: &score}
	c.Checkpoints = []Checkpoint{{Class: verdict.Judged, Policy: string(verdict.NoRule), Score: &score, DurationMS: 4000, Groups: verdict.NoTestCounts()}}
	return c
}

func broke(problem, solution string) Cell {
	return Cell{Problem: problem, Solution: solution, Backend: "local.host", Repeat: 2, Status: verdict.Broken}
}

// rowsWith returns the rows of a figure that begin with a name, joined.
func rowsWith(f draw.Figure, name string) []string {
	var all []string
	for _, row := range f.Rows {
		if row[0] == name {
			all = append(all, strings.Join(row[1:], " "))
		}
	}
	return all
}

func TestMatrix(t *testing.T) {
	m := MatrixOf(&Results{Cells: []Cell{
		passes("hard", "good", 1, "pf"), passes("hard", "bad", 1, "ff"), broke("hard", "bad"),
		passes("easy", "good", 1, "pppp"), passes("easy", "good", 2, "ppff"), passes("easy", "bad", 1, "ppff"),
		scores("points", "good", 80), broke("never", "bad"),
	}})
	if diff := cmp.Diff([]string{"points", "easy", "hard", "never"}, m.Problems); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"good", "bad"}, m.Solutions); diff != "" {
		t.Error(diff)
	}
	f := m.Figure()
	for problem, want := range map[string][]string{
		"hard": {"good 0.5 1 0", "bad 0 2 1"}, "easy": {"good 0.75 2 0", "bad 0.5 1 0"}, "points": {"good 0.8 1 0"}, "never": {"bad  1 1"},
	} {
		if diff := cmp.Diff(want, rowsWith(f, problem)); diff != "" {
			t.Errorf("%s: %s", problem, diff)
		}
	}
}

func TestCheckpointsFigure(t *testing.T) {
	f, ok := CheckpointsFigure(&Results{Cells: []Cell{
		passes("one", "s", 1, "ppp"), passes("one", "s", 2, "pff"), passes("two", "s", 1, "pf"), broke("three", "s"), passes("one", "other", 1, "fff"), scores("points", "s", 80),
	}})
	if !ok {
		t.Fatal("no figure")
	}
	// Of two problems: 1 and 1, 1/2 and 0; then of one: 1/2. The intervals are Wilson's.
	want := []string{"1 1 0.34238022750665303 1 2", "2 0.25 0.02667734200898464 0.8021325442376889 2", "3 0.5 0.05462075552885198 0.945379244471148 1"}
	if diff := cmp.Diff(want, rowsWith(f, "s")); diff != "" {
		t.Error(diff)
	}
	if _, ok := CheckpointsFigure(&Results{Cells: []Cell{passes("one", "s", 1, "p")}}); ok {
		t.Error("a figure of a single checkpoint")
	}
}

func TestFront(t *testing.T) {
	points := []tradeoff{{cost: 1, Contender: Contender{Mean: 0.5}}, {cost: 2, Contender: Contender{Mean: 0.9}}, {cost: 2, Contender: Contender{Mean: 0.6}}, {cost: 1, Contender: Contender{Mean: 0.5}}, {cost: 3, Contender: Contender{Mean: 0.9}}}
	markFront(points, false)
	for i, want := range []bool{true, true, false, true, false} {
		if points[i].front != want {
			t.Errorf("point %d: %v", i, points[i].front)
		}
	}
}

// Figures show the same values as compare.
func TestPairsFigureIsCompare(t *testing.T) {
	var cells []Cell
	for i, letters := range []string{"p", "f", "p", "p", "f", "p", "p", "p"} {
		problem := string(rune('a' + i))
		cells = append(cells, passes(problem, "x", 1, "p"), passes(problem, "y", 1, letters), passes(problem, "z", 1, "f"))
	}
	c, err := Compare(&Results{Cells: cells}, "solution", "solved", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	f, ok := c.PairsFigure()
	if !ok || len(f.Rows) != 3 {
		t.Fatalf("%v, %v", ok, f.Rows)
	}
	for i, p := range c.Pairs {
		want := []string{c.All[p.A].Name, c.All[p.B].Name, "8", formatFull(p.Difference), formatFull(p.Interval.Low), formatFull(p.Interval.High), formatFull(p.P), formatFull(p.Corrected)}
		if !p.Interval.Known {
			want[4], want[5] = "", ""
		}
		if diff := cmp.Diff(want, f.Rows[i][:8]); diff != "" {
			t.Error(diff)
		}
	}
	if board := c.LeaderboardFigure(); board.Rows[0][0] != "x" || board.Rows[0][1] != "1" || board.Rows[1][1] != "0.75" {
		t.Errorf("%v", board.Rows)
	}
}

func TestHistoryFigure(t *testing.T) {
	before := &Results{Cells: []Cell{passes("a", "s", 1, "p"), passes("b", "s", 1, "f")}}
	after := &Results{Cells: []Cell{passes("a", "s", 1, "p"), passes("b", "s", 1, "p")}}
	step := Differ(before, after)
	for i := range step.Changes {
		step.Changes[i].Causes = []string{"source changed"}
	}
	runs := []HistoryPoint{NewHistoryPoint("r1", before, nil), NewHistoryPoint("r2", after, step)}
	f, ok := HistoryFigure(runs, "solved")
	if !ok || len(f.Rows) != 2 || f.Rows[0][1] != "0.5" || f.Rows[1][1] != "1" {
		t.Fatalf("%v, %v", ok, f.Rows)
	}
	if got := strings.Join(f.Rows[1][5:], "|"); got != "1|0|0|1 source changed" {
		t.Errorf("step %q", got)
	}
	found := false
	for _, s := range f.Plot(draw.Width).Shapes {
		found = found || strings.Contains(s.Text, "1 won") && strings.Contains(s.Text, "source changed")
	}
	if !found {
		t.Error("the step is not marked with its cause")
	}
	if _, ok := HistoryFigure(runs, "score"); ok {
		t.Error("a history without scores")
	}
}

func TestDurationsFigure(t *testing.T) {
	f, ok := DurationsFigure(map[string][]float64{"parse": {0.1}, "pytest": {1, 2, 3, 4, 0}, "none": {0}})
	if !ok {
		t.Fatal("no figure")
	}
	want := [][]string{{"pytest", "4", "10", "1", "1.75", "2.5", "3.25", "4"}, {"parse", "1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1"}}
	if diff := cmp.Diff(want, f.Rows); diff != "" {
		t.Error(diff)
	}
}

// Every figure stays within its drawing, at both widths.
func TestFiguresFit(t *testing.T) {
	var cells []Cell
	for i := range 12 {
		for k := range 20 {
			cells = append(cells, passes(strings.Repeat("problem", 9)+string(rune('a'+i)), strings.Repeat("solution", 9)+string(rune('a'+k)), 1, "pfp"[i*k%3:]))
		}
	}
	r := &Results{Cells: cells}
	c, err := Compare(r, "solution", "checkpoints", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	m := MatrixOf(r)
	all := append(TradeoffFigures(r, "checkpoints"), c.LeaderboardFigure(), m.Figure(), SpreadFigure(r, m))
	pairs, ok1 := c.PairsFigure()
	checkpoints, ok2 := CheckpointsFigure(r)
	history, ok3 := HistoryFigure([]HistoryPoint{NewHistoryPoint("a", r, nil), NewHistoryPoint("b", r, Differ(r, r))}, "checkpoints")
	if !ok1 || !ok2 || !ok3 || len(all) != 4 {
		t.Fatal("figures are missing", ok1, ok2, ok3, len(all))
	}
	for _, f := range append(all, pairs, checkpoints, history) {
		for _, width := range []float64{draw.Width, 358} {
			d := f.Plot(width)
			for _, s := range d.Shapes {
				left, right := s.X, s.X+s.W
				switch {
				case s.Kind == draw.Text && s.Anchor == "end":
					left -= draw.TextWidth(s.Text)
				case s.Kind == draw.Text && s.Anchor == "middle":
					left, right = left-draw.TextWidth(s.Text)/2, right+draw.TextWidth(s.Text)/2
				case s.Kind == draw.Text && !s.Turned:
					right += draw.TextWidth(s.Text)
				}
				if s.Kind != draw.Path && (left < -6 || right > width+6 || s.Y < -6 || s.Y > d.Height+6) {
					t.Errorf("%s at %v: %+v is beyond its %v by %v", f.Name, width, s, d.Width, d.Height)
					break
				}
			}
		}
	}
}
