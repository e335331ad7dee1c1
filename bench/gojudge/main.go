// Command gojudge measures how many trivial cases a second go through
// backend/gojudge beside a bare loop of requests to go-judge itself:
//
//	go run -C bench ./gojudge -binary FILE [-parallelism N] [-cases N] [-rounds N] [-json]
//
// A case is a compiled program that adds two numbers, with its own input. A bare
// request has the input in it as text, names the program that was uploaded once,
// and has the output in its answer, which is compared and thrown away. A case of
// a Sandbox names both as content of a store on disk, where the output is
// afterwards, exact and under its digest. Each has a server of its own, started
// from the same binary with the same parallelism, and as many requests at a time
// as that. The inputs are the same 50, over and over, as a problem's cases are
// for its solutions.
//
// The two take turns, and every other round begins with the other one, so that
// whatever else the machine does meets both. It does not meet them alike: control
// groups of the Sandbox's server weigh as much as their programs, those of the
// bare one as a single program. So a busy machine flatters the Sandbox unless
// cpu.shares of both are set. A first, short round is not counted.
// The last line is the ratio of all cases a second, or with -json everything as
// one object.
//
// It has no opinion of what the ratio should be, and exits with 1 only when
// something fails.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"
)

// plan is what is measured.
type plan struct {
	Binary      string `json:"binary"`
	Parallelism int    `json:"parallelism"`
	Cases       int    `json:"cases"` // of each round
	Rounds      int    `json:"rounds"`
}

// figures are its results: cases a second, by round.
type figures struct {
	plan
	Bare    []float64 `json:"bare"`
	Sandbox []float64 `json:"sandbox"`
	Ratio   float64   `json:"ratio"`
}

func main() {
	var p plan
	flag.StringVar(&p.Binary, "binary", "", "absolute path of go-judge")
	flag.IntVar(&p.Parallelism, "parallelism", runtime.NumCPU(), "requests at a time")
	flag.IntVar(&p.Cases, "cases", 500, "cases of a round")
	flag.IntVar(&p.Rounds, "rounds", 6, "rounds of each that are counted")
	asJSON := flag.Bool("json", false, "print one JSON object as the last line")
	flag.Parse()
	if p.Binary == "" || p.Parallelism < 1 || p.Cases < 1 || p.Rounds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: gojudge -binary FILE [-parallelism N] [-cases N] [-rounds N] [-json]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, p, *asJSON, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gojudge:", err)
		os.Exit(1)
	}
}

// runner judges the i-th case.
type runner interface {
	judge(ctx context.Context, i int) error
	close() error
}

// measure takes the figures and prints them.
func measure(ctx context.Context, p plan, asJSON bool, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "fevalgraph-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ours, program, err := newSandboxed(ctx, p, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	bare, err := newBare(ctx, p, dir, program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.close()) }()

	f := figures{plan: p}
	warm := p
	warm.Cases = min(p.Cases, inputs)
	for _, r := range []runner{ours, bare} {
		if _, err := round(ctx, warm, r); err != nil {
			return err
		}
	}
	for i := range p.Rounds {
		turns := []runner{ours, bare}
		if i%2 == 1 {
			turns = []runner{bare, ours}
		}
		for _, r := range turns {
			rate, err := round(ctx, p, r)
			if err != nil {
				return err
			}
			if r == bare {
				f.Bare = append(f.Bare, rate)
			} else {
				f.Sandbox = append(f.Sandbox, rate)
			}
		}
	}
	f.Ratio = overall(f.Sandbox) / overall(f.Bare)
	fmt.Fprintf(out, "bare requests  %6.1f cases/s  %.0f\nsandbox        %6.1f cases/s  %.0f\n", overall(f.Bare), f.Bare, overall(f.Sandbox), f.Sandbox)
	if asJSON {
		return json.NewEncoder(out).Encode(f)
	}
	_, err = fmt.Fprintf(out, "ratio %.2f\n", f.Ratio)
	return err
}

// overall is the rate over rounds of as many cases each.
func overall(rates []float64) float64 {
	seconds := 0.0
	for _, r := range rates {
		seconds += 1 / r
	}
	return float64(len(rates)) / seconds
}

// round judges the cases of one round and returns how many a second.
func round(ctx context.Context, p plan, r runner) (float64, error) {
	next := make(chan int)
	errs := make([]error, p.Parallelism)
	var wait sync.WaitGroup
	start := time.Now()
	for w := range p.Parallelism {
		wait.Go(func() {
			for i := range next {
				if errs[w] == nil {
					errs[w] = r.judge(ctx, i)
				}
			}
		})
	}
	for i := range p.Cases {
		next <- i
	}
	close(next)
	wait.Wait()
	return float64(p.Cases) / time.Since(start).Seconds(), errors.Join(errs...)
}

// inputs is how many different cases there are.
const inputs = 50

func input(i int) string { return fmt.Sprintf("%d %d\n", i%inputs, 1000) }

func answer(i int) string { return fmt.Sprintf("%d\n", i%inputs+1000) }

const source = `#include <cstdio>
int main() { long a, b; if (scanf("%ld %ld", &a, &b) != 2) return 1; printf("%ld\n", a + b); }
`
