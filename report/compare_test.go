package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// contest returns cells of problems with a letter for each solution: p passes, f fails, b breaks, and a space was not
// attempted.
func contest(solutions map[string]string) *Results {
	r := &Results{Schema: Schema, Run: "r"}
	for solution, letters := range solutions {
		for i, letter := range letters {
			cell := Cell{Problem: fmt.Sprintf("p%02d", i), Solution: solution, Backend: "local.host", Repeat: 1, Status: verdict.Success, Labels: map[string]string{"model": solution[:1]}}
			c := Checkpoint{Name: "one", Class: verdict.Judged, Passed: letter == 'p', Policy: "core-cases"}
			switch letter {
			case ' ':
				continue
			case 'b':
				cell.Status, c.Class = verdict.Broken, verdict.NotJudged
			}
			cell.Checkpoints = []Checkpoint{c}
			r.Cells = append(r.Cells, cell)
		}
	}
	return r
}

func TestCompare(t *testing.T) {
	r := contest(map[string]string{
		"good": "pppppppppppp",
		"fair": "ppppffffffff",
		"near": "pppffffffffb",
		"late": "           p",
	})
	c, err := Compare(r, "solution", "", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, one := range c.All {
		names = append(names, one.Name+" "+c.Letters(i))
	}
	// Contenders with too few common problems are in every group.
	if got := strings.Join(names, ", "); got != "good a, late ab, fair b, near b" {
		t.Errorf("contenders are %s", got)
	}
	for _, p := range c.Pairs {
		switch c.All[p.A].Name + " " + c.All[p.B].Name {
		case "good fair":
			if p.Better != 8 || p.Problems != 12 || !p.Shown || math.Abs(p.McNemar-2.0/256) > 1e-9 {
				t.Errorf("good and fair are %+v", p)
			}
		case "good near":
			if p.Problems != 11 || p.Missing != 1 || !p.Single {
				t.Errorf("good and near are %+v", p)
			}
		case "late near": // one of them broke on a common problem
			if p.Problems != 0 || p.Shown || p.Missing != 1 || p.Least != 0 || p.Most != 1 {
				t.Errorf("late and near are %+v", p)
			}
		}
	}
	if _, err := Compare(r, "solution", "", []string{"good", "god"}, ""); err == nil || !strings.Contains(err.Error(), `"god"; known are fair, good, late, near`) {
		t.Errorf("an unknown name is %v", err)
	}
	if _, err := Compare(r, "backend", "", nil, ""); err == nil || !strings.Contains(err.Error(), "nothing to compare") {
		t.Errorf("a single one is %v", err)
	}
	if _, err := Compare(r, "solution", "score", nil, ""); err == nil {
		t.Error("cells without scores are compared by them")
	}
}

// Attempts are paired where the circumstances are the same: on the same backend.
func TestComparePairsAlike(t *testing.T) {
	r := contest(map[string]string{"good": "pppppp", "fair": "pppppp"})
	more := contest(map[string]string{"good": "ffffff"})
	for i := range more.Cells {
		more.Cells[i].Backend = "local.slow"
	}
	r.Cells = append(r.Cells, more.Cells...)
	c, err := Compare(r, "model", "solved", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Pairs[0]; p.Difference != 0 || c.All[0].Mean != 1 || c.All[1].Mean != 0.5 {
		t.Errorf("the pair is %+v of %+v", p, c.All)
	}
	if c, err = Compare(r, "backend", "", nil, ""); err != nil || c.Pairs[0].Problems != 6 || c.Pairs[0].Difference != 1 {
		t.Errorf("backends are %+v, %v", c, err)
	}
}

func TestWriteContenders(t *testing.T) {
	r := contest(map[string]string{"good|`x": "pppppppppppp", "fair": "ppppffffffff", "near": "pppfffffffff"})
	for _, metric := range []string{"solved", "checkpoints"} {
		c, err := Compare(r, "solution", metric, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range CompareFormats {
			var b bytes.Buffer
			if err := WriteContenders(&b, format, c, Options{Page: text.Page{Width: 80}, Verbose: true}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if format == "table" && text.Width(strings.TrimSpace(line)) > 80 {
					t.Errorf("wider than 80 columns: %s", line)
				}
				if format == "markdown" && strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 7 && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
					t.Errorf("a row has other columns: %s", line)
				}
			}
		}
	}
	if err := WriteContenders(&bytes.Buffer{}, "html", &Contenders{}, Options{}); err == nil {
		t.Error("an unknown format is written")
	}
}

// A machine that breaks for one of two equal contenders does not make the other better.
func TestCompareBroken(t *testing.T) {
	r := contest(map[string]string{"one": "pppppppp", "two": "pppppppp"})
	slow := contest(map[string]string{"one": "ffffffff", "two": "bbbbbbbb"})
	for i := range slow.Cells {
		slow.Cells[i].Backend = "local.slow"
	}
	r.Cells = append(r.Cells, slow.Cells...)
	c, err := Compare(r, "solution", "", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Pairs[0]; p.Difference != 0 || p.Shown || p.Equal != 8 || p.Missing != 8 {
		t.Errorf("the pair is %+v", p)
	}
}

// Contenders without a common problem cannot be compared; the problems that each attempted are listed.
func TestCompareUnmatched(t *testing.T) {
	r := contest(map[string]string{"good": "pppppp", "fair": "ffffff"})
	for i := range r.Cells {
		if r.Cells[i].Solution == "fair" {
			r.Cells[i].Problem = "other/" + r.Cells[i].Problem
		}
	}
	_, err := Compare(r, "solution", "", nil, "")
	want := "no two attempted the same problem on the same backend: good has p00, p01, p02 and 3 more; fair has other/p00, other/p01, other/p02 and 3 more"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Cells without the label that is compared are counted, and contenders without any verdict have no mean.
func TestCompareLeftOut(t *testing.T) {
	r := contest(map[string]string{"good": "pppppp", "fair": "ffffff", "late": "bbbbbb"})
	for i := range r.Cells {
		if r.Cells[i].Solution == "fair" {
			r.Cells[i].Labels = nil
		}
	}
	c, err := Compare(r, "model", "", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteContenders(&b, "table", c, Options{Page: text.Page{Width: 80}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6 cells left out: no label model", "l            -  ~"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("missing %q:\n%s", want, b.String())
		}
	}
}

// Too few problems are reported, with how many are enough.
func TestCompareTooFew(t *testing.T) {
	r := contest(map[string]string{"base": "fffff", "a": "ppppp"})
	c, err := Compare(r, "solution", "", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.tooFew(); got != "5 problems can show no difference; 6 can." {
		t.Errorf("two: %q", got)
	}
	more := contest(map[string]string{"b": "ppppp", "c": "ppppp"})
	r.Cells = append(r.Cells, more.Cells...)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range r.Cells {
		score := random.Float64()
		r.Cells[i].Checkpoints[0].Name, r.Cells[i].Score = "", &score
	}
	if c, err = Compare(r, "solution", "score", nil, ""); err != nil {
		t.Fatal(err)
	}
	if got := c.tooFew(); got != "5 problems can show no difference among 6 pairs; 8 can." {
		t.Errorf("four: %q", got)
	}
}

// If all others are compared with one contender, there are fewer pairs.
func TestCompareAgainst(t *testing.T) {
	r := contest(map[string]string{"base": "ffffff", "a": "pppppp", "b": "ppfppp", "c": "pppfpp"})
	c, err := Compare(r, "solution", "", []string{"a", "b"}, "base")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Pairs) != 2 || c.Groups != nil || c.All[c.Against].Name != "base" {
		t.Errorf("against base: %+v", c)
	}
	if _, err := Compare(r, "solution", "", nil, "absent"); err == nil || !strings.Contains(err.Error(), `"absent"; known are a, b, base, c`) {
		t.Errorf("against a name that is not there: %v", err)
	}
}

// Unbounded scores are a metric like any other, with as many digits as distinguish them.
func TestCompareUnbounded(t *testing.T) {
	r := &Results{Schema: Schema, Run: "r"}
	for solution, scores := range map[string][]float64{"first": {0.0941, 0.0951}, "second": {0.0932, 0.0942}, "lost": {0.0894, -1}} {
		for i, score := range scores {
			cell := Cell{Problem: fmt.Sprint("p", i), Solution: solution, Backend: "local.host", Repeat: 1, Status: verdict.Success}
			c := Checkpoint{Class: verdict.Judged, ScoreUnbounded: &score}
			cell.ScoreUnbounded = &score
			if score < 0 { // it did not compile
				cell.Status, cell.ScoreUnbounded, c = verdict.Error, nil, Checkpoint{Class: verdict.NoScore}
			}
			cell.Checkpoints = []Checkpoint{c}
			r.Cells = append(r.Cells, cell)
		}
	}
	c, err := Compare(r, "solution", "unbounded", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.All[2]; got.Name != "lost" || math.Abs(got.Mean-0.0447) > 1e-9 {
		t.Errorf("last is %+v", got)
	}
	var b bytes.Buffer
	if err := WriteContenders(&b, "table", c, Options{Page: text.Page{Width: 80}, Verbose: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.0946", "0.0937", "0.0447", "+0.0009"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("missing %s:\n%s", want, b.String())
		}
	}
}
