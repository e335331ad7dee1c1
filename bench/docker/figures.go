package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// series is how long something took, many times over: all of it and its steps,
// which have the same names every time.
type series struct {
	whole []time.Duration
	names []string // in the order of the steps
	steps map[string][]time.Duration

	began, last time.Time
}

func newSeries() *series { return &series{steps: map[string][]time.Duration{}} }

func (s *series) begin() {
	s.began = time.Now()
	s.last = s.began
}

// step notes what passed since the last one.
func (s *series) step(name string) {
	now := time.Now()
	if _, known := s.steps[name]; !known {
		s.names = append(s.names, name)
	}
	s.steps[name] = append(s.steps[name], now.Sub(s.last))
	s.last = now
}

func (s *series) end() { s.whole = append(s.whole, s.last.Sub(s.began)) }

// forget drops what was noted so far.
func (s *series) forget() { *s = *newSeries() }

// median is in milliseconds; of an even number, the mean of the middle two. It
// must not be asked for none.
func median(d []time.Duration) float64 {
	d = slices.Sorted(slices.Values(d))
	middle := (d[(len(d)-1)/2] + d[len(d)/2]) / 2
	return float64(middle.Microseconds()) / 1e3
}

// figures are the outcome.
type figures struct {
	plan
	Bare    side `json:"bare"`
	Session side `json:"session"`

	Ratio float64 `json:"ratio"` // of the medians, to the bare one's
}

type side struct {
	MedianMS float64 `json:"median_ms"`
	BestMS   float64 `json:"best_ms"`
	Steps    []step  `json:"steps"`
}

type step struct {
	Name     string  `json:"name"`
	MedianMS float64 `json:"median_ms"`
}

func newFigures(p plan, bare, session *series) *figures {
	f := &figures{plan: p, Bare: bare.side(), Session: session.side()}
	f.Ratio = f.Session.MedianMS / f.Bare.MedianMS
	return f
}

func (s *series) side() side {
	out := side{MedianMS: median(s.whole), BestMS: median([]time.Duration{slices.Min(s.whole)})}
	for _, name := range s.names {
		out.Steps = append(out.Steps, step{name, median(s.steps[name])})
	}
	return out
}

// write prints a table, and the ratio or the JSON as last line.
func (f *figures) write(w io.Writer, asJSON bool) error {
	fmt.Fprintf(w, "%s, network %s, %d rounds of: %s\n\n", f.Image, f.Network, f.Rounds, strings.Join(f.Command, " "))
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\tmedian ms\tbest ms\t\n")
	for _, row := range []struct {
		name string
		side side
	}{{"bare", f.Bare}, {"session", f.Session}} {
		fmt.Fprintf(table, "%s\t%.1f\t%.1f\t\n", row.name, row.side.MedianMS, row.side.BestMS)
		for _, s := range row.side.Steps {
			fmt.Fprintf(table, "%s\t%.1f\t\t\n", s.Name, s.MedianMS)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(w).Encode(f)
	}
	_, err := fmt.Fprintf(w, "\nratio %.2f\n", f.Ratio)
	return err
}
