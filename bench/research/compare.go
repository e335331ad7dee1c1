package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// comparison counts the results of compare.
type comparison struct {
	equal, varying, different int
	missing                   int // missing on one side
	rounded                   bool
}

func (c *comparison) ok() bool { return c.different == 0 && c.missing == 0 && c.equal > 0 }

func (c *comparison) String() string {
	text := fmt.Sprintf("%d evaluations compared: %d equal, %d vary by themselves, %d different; %d missing",
		c.equal+c.varying+c.different, c.equal, c.varying, c.different, c.missing)
	if c.rounded {
		text += "; a CSV's scores are rounded"
	}
	return text
}

// compare compares the first files of both sides; the others show what varies.
func compare(theirs, ours []*file, verbose bool, out io.Writer) *comparison {
	c := &comparison{rounded: theirs[0].rounded || ours[0].rounded}
	names := slices.Clone(theirs[0].names)
	for _, n := range ours[0].names {
		if _, ok := theirs[0].outcomes[n]; !ok {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b name) int { return strings.Compare(a.String(), b.String()) })
	for _, n := range names {
		there, thereErr := theirs[0].get(n)
		here, hereErr := ours[0].get(n)
		switch {
		case thereErr != nil:
			c.missing++
			fmt.Fprintf(out, "missing    %s: not in the reference's results; %s here\n", n, here)
		case hereErr != nil:
			c.missing++
			fmt.Fprintf(out, "missing    %s: %s there; not in fevalgraph's results\n", n, there)
		case equal(there, here, c.rounded):
			c.equal++
			if verbose {
				fmt.Fprintf(out, "equal      %s: %s\n", n, here)
			}
		case varies(theirs, n) || varies(ours, n):
			c.varying++
			fmt.Fprintf(out, "varies     %s: %s there, %s here\n", n, all(theirs, n), all(ours, n))
		default:
			c.different++
			fmt.Fprintf(out, "DIFFERENT  %s: %s there, %s here\n", n, there, here)
		}
	}
	return c
}

// varies reports whether the files of a side disagree about an evaluation.
func varies(files []*file, n name) bool {
	first, err := files[0].get(n)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files[1:], func(f *file) bool {
		o, err := f.get(n)
		return err == nil && !equal(first, o, files[0].rounded || f.rounded)
	})
}

func all(files []*file, n name) string {
	var texts []string
	for _, f := range files {
		if o, err := f.get(n); err == nil {
			texts = append(texts, o.String())
		}
	}
	return strings.Join(texts, " then ")
}

func equal(a, b outcome, rounded bool) bool {
	if rounded {
		a, b = a.round(), b.round()
	}
	return a.status == b.status && same(a.score, b.score) && same(a.unbounded, b.unbounded)
}

// same compares numbers exactly; NaN equals itself.
func same(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b || math.IsNaN(*a) && math.IsNaN(*b)
}

func (o outcome) String() string {
	return fmt.Sprintf("%s %s/%s", o.status, number(o.score), number(o.unbounded))
}

func number(f *float64) string {
	if f == nil {
		return "none"
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}
