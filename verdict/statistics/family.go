package statistics

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

// Family contains the p of several comparisons of differences at the same problems, corrected so that the
// rate of false alarms in all of them together is at most that of one.
type Family struct {
	P []float64 // of each comparison
	// maxima contains the largest statistic of each choice of signs, sorted.
	maxima []float64
}

// All signs are tried if that takes at most mostTried sums of one difference. Otherwise signs are drawn,
// fewer for many or large comparisons.
const (
	mostTried      = 1 << 28
	mostFlipped    = 1 << 31
	leastFlips     = 2_000
	mostFlips      = 10_000
	familyFraction = 8 // parts of the work that can run concurrently
)

// Correct compares several times at once, like Westfall and Young (1993): rows are comparisons, which have
// a difference at each of the same problems, 0 if a comparison lacks the problem. If the members of a pair
// were alike, the signs of its differences could as well be the opposite; the signs of all pairs flip
// together, problem by problem, so that the correlation of comparisons is kept. A comparison's p is how
// often the largest statistic of it and of all less significant ones is as large as its own. Unlike a sum
// of bounds, it costs little power if comparisons resemble each other, and the smallest possible p does
// not grow with their number.
func Correct(rows [][]float64) Family {
	f := newFlips(rows)
	parts := make([]flipCounts, familyFraction)
	var group sync.WaitGroup
	for i := range parts {
		group.Go(func() { parts[i] = f.run(i) })
	}
	group.Wait()
	family := Family{P: make([]float64, len(rows))}
	seen, far := 0, make([]int, len(f.rows))
	for i := range parts {
		seen += len(parts[i].maxima)
		family.maxima = append(family.maxima, parts[i].maxima...)
		for j, n := range parts[i].far {
			far[j] += n
		}
	}
	slices.Sort(family.maxima)
	for i := range family.P {
		family.P[i] = 1 // a comparison without differences
	}
	highest := 0.0
	for j, row := range f.order {
		p := float64(far[j]) / float64(seen)
		if !f.exact {
			p = float64(far[j]+1) / float64(seen+1) // the actual signs are one of the draws
		}
		highest = max(highest, p)
		family.P[row] = highest
	}
	return family
}

// Critical returns the smallest t of a comparison of n problems that is significant in the family at
// Level, and false if no t is.
func (f *Family) Critical(n int) (t float64, ok bool) {
	if len(f.maxima) == 0 {
		return 0, false
	}
	// The statistic that at most Level of all maxima reach.
	allowed := int(Level * float64(len(f.maxima)))
	at := f.maxima[len(f.maxima)-1-min(allowed, len(f.maxima)-1)]
	most := math.Sqrt(float64(n)) // of a statistic: all differences are equal
	if n < ProblemsNeeded(1) || at >= most-flipSlack {
		return 0, false
	}
	return at * math.Sqrt(float64(n-1)/(float64(n)-at*at)), true
}

// ProblemsNeeded returns how many problems a number of comparisons need to be significant if the
// difference is clear at each problem.
func ProblemsNeeded(comparisons int) int {
	n := 1
	for math.Ldexp(float64(comparisons), 1-n) > Level {
		n++
	}
	return n
}

// flipSlack is the maximum rounding difference between statistics with different orders of summation.
const flipSlack = 1e-9

// flips counts statistics of comparisons with flipped signs.
type flips struct {
	rows  [][]float64 // divided by their norms; the most significant first, none without differences
	order []int       // the indexes of rows
	seen  []float64   // statistics of rows
	width int         // problems at which anything differs
	exact bool
}

// flipCounts holds the counts of a part of the work.
type flipCounts struct {
	far    []int // by row, choices of signs in which it or a later row is as far from 0
	maxima []float64
}

func newFlips(rows [][]float64) *flips {
	f := &flips{}
	problems := 0
	if len(rows) > 0 {
		problems = len(rows[0])
	}
	var used []int // problems at which anything differs
	for at := range problems {
		if slices.ContainsFunc(rows, func(row []float64) bool { return row[at] != 0 }) {
			used = append(used, at)
		}
	}
	f.width = len(used)
	statistic := make([]float64, len(rows))
	scaled := make([][]float64, len(rows))
	for i, row := range rows {
		row, _ = normalized(row)
		sum, squares := 0.0, 0.0
		for _, d := range row {
			sum, squares = sum+d, squares+d*d
		}
		if squares == 0 {
			continue
		}
		norm := math.Sqrt(squares)
		for _, at := range used {
			scaled[i] = append(scaled[i], row[at]/norm)
		}
		statistic[i] = math.Abs(sum) / norm
		f.order = append(f.order, i)
	}
	slices.SortStableFunc(f.order, func(a, b int) int {
		switch {
		case statistic[a] > statistic[b]:
			return -1
		case statistic[a] < statistic[b]:
			return 1
		}
		return 0
	})
	for _, i := range f.order {
		f.rows, f.seen = append(f.rows, scaled[i]), append(f.seen, statistic[i])
	}
	f.exact = f.width <= 30 && len(f.rows)<<max(0, f.width-1) <= mostTried
	return f
}

// run counts one part of all choices of signs. A choice and its opposite have the same absolute sum, so
// the first sign is fixed.
func (f *flips) run(part int) flipCounts {
	out := flipCounts{far: make([]int, len(f.rows))}
	if len(f.rows) == 0 {
		return out
	}
	if f.exact {
		f.try(part, &out)
		return out
	}
	random := rand.New(rand.NewPCG(seed, uint64(part)))
	draws := min(max(mostFlipped/(len(f.rows)*f.width), leastFlips), mostFlips) / familyFraction
	signs, sums := make([]float64, f.width), make([]float64, len(f.rows))
	for range draws {
		for at := 0; at < f.width; at += 64 {
			drawn := random.Uint64()
			for i := at; i < min(at+64, f.width); i++ {
				signs[i] = float64(int64(drawn&1)*2 - 1)
				drawn >>= 1
			}
		}
		for i, row := range f.rows {
			sum := 0.0
			for at, d := range row {
				sum += signs[at] * d
			}
			sums[i] = sum
		}
		f.count(sums, &out)
	}
	return out
}

// try counts a part of all choices of signs. Each choice differs from the last in one sign.
func (f *flips) try(part int, out *flipCounts) {
	all := uint64(1) << (f.width - 1)
	from, to := all*uint64(part)/familyFraction, all*uint64(part+1)/familyFraction
	if from == to {
		return
	}
	gray := from ^ from>>1
	sums := make([]float64, len(f.rows))
	for i, row := range f.rows {
		for at, d := range row {
			if at > 0 && gray>>(at-1)&1 == 1 {
				d = -d
			}
			sums[i] += d
		}
	}
	f.count(sums, out)
	for n := from + 1; n < to; n++ {
		bit := bits.TrailingZeros64(n)
		gray ^= 1 << bit
		twice := 2.0
		if gray>>bit&1 == 1 {
			twice = -2
		}
		for i, row := range f.rows {
			sums[i] += twice * row[bit+1]
		}
		f.count(sums, out)
	}
}

// count compares the sums of one choice of signs with the actual sums.
func (f *flips) count(sums []float64, out *flipCounts) {
	largest := 0.0
	for i := len(sums) - 1; i >= 0; i-- {
		largest = max(largest, math.Abs(sums[i]))
		if largest >= f.seen[i]-flipSlack {
			out.far[i]++
		}
	}
	out.maxima = append(out.maxima, largest)
}
