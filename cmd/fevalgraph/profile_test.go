//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// traced is an event of the trace event format.
type traced struct {
	Name, Cat, Ph, ID string
	Ts, Dur           float64
	Pid, Tid          int
	Args              map[string]any
}

func (e traced) end() float64 { return e.Ts + e.Dur }

// track is where a viewer shows a slice.
type track struct{ pid, tid int }

// readTrace reads a trace and fails unless it is well-formed: complete events nest in named tracks, and each begin has
// an end.
func readTrace(t *testing.T, path string) []traced {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		DisplayTimeUnit string
		TraceEvents     []traced
	}
	if err := json.Unmarshal(content, &trace); err != nil {
		t.Fatal(err)
	}
	named := map[track]string{}
	tracks := map[track][]traced{}
	waits := map[string]float64{}
	for _, e := range trace.TraceEvents {
		at := track{e.Pid, e.Tid}
		switch e.Ph {
		case "M":
			if e.Name == "thread_name" {
				named[at] = fmt.Sprint(e.Args["name"])
			}
		case "X":
			tracks[at] = append(tracks[at], e)
		case "b", "e":
			if was, begun := waits[e.ID]; begun == (e.Ph == "b") || e.ID == "" || e.Ph == "e" && e.Ts < was {
				t.Errorf("%s %q at %v, after %v", e.Ph, e.ID, e.Ts, was)
			}
			waits[e.ID] = e.Ts
		default:
			t.Errorf("%+v is of no kind that is written", e)
		}
		if e.Ts < 0 || e.Dur < 0 || math.IsNaN(e.Ts+e.Dur) {
			t.Errorf("%+v is at no time", e)
		}
	}
	for at, slices := range tracks {
		if named[at] == "" {
			t.Errorf("track %v without a name", at)
		}
		nest(t, at, slices)
	}
	return trace.TraceEvents
}

// nest fails unless each slice of a track is within those that it overlaps.
func nest(t *testing.T, at track, all []traced) {
	t.Helper()
	slices.SortStableFunc(all, func(a, b traced) int { return cmp.Or(cmp.Compare(a.Ts, b.Ts), cmp.Compare(b.Dur, a.Dur)) })
	var open []traced
	for _, e := range all {
		for len(open) > 0 && open[len(open)-1].end() <= e.Ts {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && e.end() > open[len(open)-1].end() {
			t.Errorf("track %v: %s from %v to %v overlaps %s, which ends at %v", at, e.Name, e.Ts, e.end(), open[len(open)-1].Name, open[len(open)-1].end())
		}
		open = append(open, e)
	}
}

// A profile has, for every node that ran, the times of its decision, wait and work, and the phases of that leave
// nothing out.
func TestProfile(t *testing.T) {
	t.Parallel()
	c := newCheckout(t, t.TempDir())
	path := filepath.Join(c.place, "trace.json")
	c.run("run", "-j", "3", "--profile", path)
	events := readTrace(t, path)
	phases := map[string][]string{} // of nodes, by process and address
	waited := map[string]bool{}
	for i, e := range events {
		switch {
		case e.Cat == "queue":
			waited[e.Name] = true
		case e.Ph != "X" || e.Cat == "phase":
		default:
			sum, key := 0.0, fmt.Sprint(e.Pid, " ", e.Name)
			for _, part := range events[i+1:] {
				if part.Cat != "phase" {
					break
				}
				sum += part.Dur
				phases[key] = append(phases[key], part.Name)
				if part.Pid != e.Pid || part.Tid != e.Tid || part.Ts < e.Ts || part.end() > e.end() {
					t.Errorf("%s of %s is not within it", part.Name, e.Name)
				}
			}
			if sum != e.Dur {
				t.Errorf("the phases of %s take %v, and it %v", key, sum, e.Dur)
			}
		}
	}
	run := c.lastRun()
	if len(run.executed) == 0 {
		t.Fatal("no node ran")
	}
	// Work of less than a microsecond is omitted: that can be any of these but the named ones.
	shows := func(key string, all, always []string) {
		t.Helper()
		at := 0
		for _, phase := range phases[key] {
			next := slices.Index(all[at:], phase)
			if next < 0 {
				t.Fatalf("phases of %s: %q, want no others than %q, in this order", key, phases[key], all)
			}
			at += next + 1
		}
		for _, phase := range always {
			if !slices.Contains(phases[key], phase) {
				t.Errorf("phases of %s: %q, want %s among them", key, phases[key], phase)
			}
		}
	}
	for _, addr := range run.executed {
		switch kind, _, _ := strings.Cut(addr, ":"); kind {
		case "pytest":
			shows("1 "+addr, []string{"look up", "working", "preparing", "workspace", "backend", "storing", "closing", "storing"},
				[]string{"look up", "workspace", "backend", "storing"})
		default:
			shows("1 "+addr, []string{"look up", "working", "storing"}, []string{"look up", "storing"})
		}
		shows("2 "+addr, []string{"hashing", "look up"}, nil)
		if !waited[addr] {
			t.Errorf("%s is not shown as waiting", addr)
		}
	}
}
