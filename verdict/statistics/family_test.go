package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// One comparison is the sign-flip test; more are at least as careful, and less so than Holm and Bonferroni.
func TestCorrectOne(t *testing.T) {
	for _, row := range [][]float64{sample, {1, 1, 1, -1, 1, 0, 0, 1}, {1, -1}, {0, 0}, {2, 2, 2, 2, 2, 2}} {
		want, _ := SignFlip(row)
		if f := Correct([][]float64{row}); math.Abs(f.P[0]-want) > 1e-12 {
			t.Errorf("p of %v is %v, want %v", row, f.P[0], want)
		}
	}
	if f := Correct(nil); len(f.P) != 0 {
		t.Errorf("no data has the p %v", f.P)
	}
}

// enumerate computes Correct by its definition: step down, over all signs.
func enumerate(rows [][]float64) []float64 {
	n := len(rows[0])
	statistic := func(row []float64, signs int) float64 {
		sum, squares := 0.0, 0.0
		for i, d := range row {
			squares += d * d
			if signs>>i&1 == 1 {
				d = -d
			}
			sum += d
		}
		return math.Abs(sum) / math.Sqrt(squares)
	}
	p := make([]float64, len(rows))
	for i := range rows {
		// Of all rows that show no more than i does; p does not fall from one row to the next.
		for j := range rows {
			if statistic(rows[j], 0) < statistic(rows[i], 0)-1e-9 {
				continue
			}
			far := 0
			for signs := range 1 << n {
				for k := range rows {
					if statistic(rows[k], 0) <= statistic(rows[j], 0)+1e-9 && statistic(rows[k], signs) >= statistic(rows[j], 0)-1e-9 {
						far++
						break
					}
				}
			}
			p[i] = max(p[i], float64(far)/float64(int(1)<<n))
		}
	}
	return p
}

func TestCorrectAsDefined(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for round := range 20 {
		rows := make([][]float64, 2+round%4)
		for i := range rows {
			rows[i] = make([]float64, 8)
			for at := range rows[i] {
				if r.Float64() < 0.9 { // others are not compared there
					rows[i][at] = r.NormFloat64() + float64(i)
				}
			}
		}
		got, want := Correct(rows), enumerate(rows)
		for i := range rows {
			if math.Abs(got.P[i]-want[i]) > 1e-12 {
				t.Errorf("round %d: p is %v, want %v", round, got.P, want)
				break
			}
		}
	}
}

// Drawn results agree with counted ones, and are the same each time.
func TestCorrectDrawn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	rows := make([][]float64, 10)
	for i := range rows {
		for range 16 {
			rows[i] = append(rows[i], r.NormFloat64()+0.1*float64(i))
		}
	}
	counted := Correct(rows)
	wide := make([][]float64, len(rows))
	for i := range rows {
		wide[i] = append(slices.Clone(rows[i]), slices.Repeat([]float64{1e-9}, 24)...)
	}
	drawn := Correct(wide)
	for i := range rows {
		if math.Abs(counted.P[i]-drawn.P[i]) > 0.02 {
			t.Errorf("p is %v counted and %v drawn", counted.P[i], drawn.P[i])
		}
	}
	if again := Correct(wide); !slices.Equal(again.P, drawn.P) {
		t.Errorf("p is %v, then %v", drawn.P, again.P)
	}
}

// Many contenders that differ at all problems are shown to, where bounds that add up show nothing.
func TestCorrectMany(t *testing.T) {
	const contenders, problems = 40, 30
	r := rand.New(rand.NewPCG(9, 9))
	var rows [][]float64
	skill := func(of int) float64 { return float64(of) + 0.3*r.NormFloat64() }
	values := make([][]float64, contenders)
	for i := range values {
		for range problems {
			values[i] = append(values[i], skill(i))
		}
	}
	for a := range contenders {
		for b := range a {
			row := make([]float64, problems)
			for at := range row {
				row[at] = values[a][at] - values[b][at]
			}
			rows = append(rows, row)
		}
	}
	f := Correct(rows)
	if worst := slices.Max(f.P); worst > Level {
		t.Errorf("%d pairs that each differ at each problem: p up to %v", len(rows), worst)
	}
}

func TestProblemsNeeded(t *testing.T) {
	for _, c := range [][2]int{{1, 6}, {3, 7}, {15, 10}, {5151, 18}} {
		if got := ProblemsNeeded(c[0]); got != c[1] {
			t.Errorf("%d comparisons need %d problems, want %d", c[0], got, c[1])
		}
		// With this many, wins everywhere are shown even if no two comparisons have data in common.
		if p := 2 * float64(c[0]) * math.Ldexp(1, -c[1]); p > Level {
			t.Errorf("%d problems of %d comparisons have p %v", c[1], c[0], p)
		}
	}
}

// A family without enough pairs to show anything is reported as such.
func TestCriticalOfFew(t *testing.T) {
	var rows [][]float64
	for signs := range 15 { // each has another pattern, so each choice makes one of them extreme
		row := make([]float64, 5)
		for at := range row {
			row[at] = float64(1 - 2*(signs>>at&1))
		}
		rows = append(rows, row)
	}
	f := Correct(rows)
	if critical, ok := f.Critical(5); ok {
		t.Errorf("five problems show t from %v on", critical)
	}
}

// family simulates contenders: the first is better than the second by effect, and all others equal the second. It
// returns how often that pair is shown, how often an equal pair is, and the detectable difference.
func family(contenders, problems, rounds int, effect float64) (shown, alarms, detectable float64) {
	r := rand.New(rand.NewPCG(11, uint64(contenders)))
	for range rounds {
		values := make([][]float64, contenders)
		for at := range problems {
			difficulty := 3 * r.NormFloat64()
			for i := range values {
				if at == 0 {
					values[i] = make([]float64, problems)
				}
				values[i][at] = difficulty + r.NormFloat64()
			}
			values[0][at] += effect
		}
		var comparisons []Comparison
		var rows [][]float64
		for a := range contenders {
			for b := a + 1; b < contenders; b++ {
				var of []Problem
				for at := range problems {
					of = append(of, alone(Attempts{Values: values[a][at : at+1]}, Attempts{Values: values[b][at : at+1]}))
				}
				c := Compare(of, Scale{})
				comparisons, rows = append(comparisons, c), append(rows, c.Differences)
			}
		}
		f := Correct(rows)
		comparisons[0].Correct(&f)
		detectable += comparisons[0].Detectable / float64(rounds)
		if f.P[0] <= Level {
			shown += 1 / float64(rounds)
		}
		// The pairs of the first come first, and are not alike.
		if slices.ContainsFunc(f.P[contenders-1:], func(p float64) bool { return p <= Level }) {
			alarms += 1 / float64(rounds)
		}
	}
	return shown, alarms, detectable
}

// A difference that is called detectable is shown in 80 of 100 comparisons, however many contenders there are,
// and contenders that are alike are not shown to differ in more than 5 of 100.
func testFamily(t *testing.T, contenders, problems, rounds int) {
	t.Run(fmt.Sprintf("%d contenders, %d problems", contenders, problems), func(t *testing.T) {
		t.Parallel()
		_, _, effect := family(contenders, problems, rounds, 0)
		shown, alarms, _ := family(contenders, problems, rounds, effect)
		t.Logf("a difference of %.2f is shown in %.0f %%; false alarms in %.1f %%", effect, 100*shown, 100*alarms)
		slack := 3 * math.Sqrt(0.8*0.2/float64(rounds))
		if math.Abs(shown-power) > slack+0.05 {
			t.Errorf("a difference of %.2f is shown in %.0f %%", effect, 100*shown)
		}
		if alarms > Level+3*math.Sqrt(Level*(1-Level)/float64(rounds)) {
			t.Errorf("of contenders that are alike %.1f %% are shown to differ", 100*alarms)
		}
	})
}
