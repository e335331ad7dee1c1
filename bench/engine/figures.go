package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

// contender is a compared program.
type contender struct {
	name string
	run  func(round int) (time.Duration, *syscall.Rusage, error) // nil for parts of another contender

	took   []time.Duration
	cpu    []time.Duration // processor time, where known
	memory int64           // KiB, the maximum over runs; 0 means unknown
}

// measure runs the contenders alternately, and reads the machine's load before and after.
func (f *figures) measure(runs int, before func(round int) error) error {
	f.load[0] = load()
	err := takeTurns(f.contenders, runs, before)
	f.load[1] = load()
	return err
}

// takeTurns runs each contender runs times, after an uncounted round. It calls before ahead of each round.
func takeTurns(all []*contender, runs int, before func(round int) error) error {
	for round := range runs + 1 {
		if before != nil {
			if err := before(round); err != nil {
				return err
			}
		}
		for i := range all {
			c := all[(i+round)%len(all)]
			if c.run == nil {
				continue
			}
			took, usage, err := c.run(round)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.count(round, took, usage)
		}
	}
	return nil
}

// count records the result of a round, except the first.
func (c *contender) count(round int, took time.Duration, usage *syscall.Rusage) {
	if round == 0 {
		return
	}
	c.took = append(c.took, took)
	if usage != nil {
		c.memory = max(c.memory, usage.Maxrss)
		c.cpu = append(c.cpu, time.Duration(usage.Utime.Nano()+usage.Stime.Nano()))
	}
}

// median returns the median, for an even number the mean of the middle two.
func median(d []time.Duration) float64 {
	d = slices.Sorted(slices.Values(d))
	return ((d[(len(d)-1)/2] + d[len(d)/2]) / 2).Seconds()
}

// figures are the results.
type figures struct {
	name       string
	nodes      int
	what       string // description
	contenders []*contender
	load       [2]float64 // before and after
}

func (f *figures) seconds(name string) float64 {
	for _, c := range f.contenders {
		if c.name == name && len(c.took) > 0 {
			return median(c.took)
		}
	}
	return 0
}

func (f *figures) write(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %d nodes; load average %.1f before, %.1f after\n", f.name, f.what, f.nodes, f.load[0], f.load[1])
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tmedian\tleast\tmost\tcpu\tus/node\tMiB\tbytes/node\tfevalgraph is\t")
	own := cmp.Or(f.seconds("fevalgraph"), f.seconds(remoteStore))
	for _, c := range f.contenders {
		m := median(c.took)
		memory, perNode, cpu := "-", "-", "-"
		if len(c.cpu) > 0 {
			cpu = fmt.Sprintf("%.4fs", median(c.cpu))
		}
		if c.memory > 0 {
			memory, perNode = fmt.Sprint(c.memory>>10), fmt.Sprint(c.memory<<10/int64(f.nodes))
		}
		fmt.Fprintf(table, "%s\t%.4fs\t%.4fs\t%.4fs\t%s\t%.2f\t%s\t%s\t%.2fx\t\n", c.name, m, slices.Min(c.took).Seconds(), slices.Max(c.took).Seconds(), cpu,
			m/float64(f.nodes)*1e6, memory, perNode, own/m)
	}
	table.Flush()
	if l := f.line(); l.Of > 0 {
		fmt.Fprintf(w, "fevalgraph takes %.2f of what it takes when nothing changed and its work take\n", l.Of)
	}
}

// lastLine is the output of -json; scripts rely on its names.
type lastLine struct {
	Case       string  `json:"case"`
	Nodes      int     `json:"nodes"`
	Fevalgraph float64 `json:"fevalgraph_s"`
	Ninja      float64 `json:"ninja_s"`
	Lstat      float64 `json:"lstat_s"`
	SHA256     float64 `json:"sha256_s,omitempty"`
	Small      float64 `json:"small_s,omitempty"`
	LocalStore float64 `json:"local_store_s,omitempty"`
	Again      float64 `json:"noop_s,omitempty"`
	Work       float64 `json:"work_s,omitempty"`
	Of         float64 `json:"of_noop_and_work,omitempty"`
	Ratio      float64 `json:"ratio"`
}

func (f *figures) line() lastLine {
	l := lastLine{Case: f.name, Nodes: f.nodes, Fevalgraph: cmp.Or(f.seconds("fevalgraph"), f.seconds(remoteStore)), Ninja: f.seconds("ninja"), Lstat: f.seconds("lstat loop"),
		SHA256: f.seconds(sha256Loop), Small: f.seconds(smallAsset), LocalStore: f.seconds(localStore), Again: f.seconds(sameAgain), Work: f.seconds(itsWork)}
	if l.Again > 0 {
		l.Of = l.Fevalgraph / (l.Again + l.Work)
	}
	for _, other := range []float64{l.Ninja, l.SHA256, l.Small, l.LocalStore} {
		if other > 0 {
			l.Ratio = l.Fevalgraph / other
			break
		}
	}
	return l
}
