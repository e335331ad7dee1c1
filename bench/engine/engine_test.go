package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// The graph for ninja and make has as many edges as fevalgraph has nodes, each with a distinct output, and no
// input that is not made.
func TestEdges(t *testing.T) {
	for _, nodes := range []int{1, 500, 1055, 20_000} {
		s := shapeFor(nodes)
		edges := s.edges()
		if len(edges) != s.nodes() {
			t.Errorf("%d edges for %d nodes", len(edges), s.nodes())
		}
		made := map[string]bool{}
		for _, f := range s.files() {
			made[f] = true
		}
		for _, e := range edges {
			for _, in := range e.in {
				if !made[in] {
					t.Fatalf("%s needs %s, which nothing before it makes", e.out, in)
				}
			}
			if made[e.out] {
				t.Fatalf("%s is made twice", e.out)
			}
			made[e.out] = true
		}
	}
}

func TestShapeIsNearWhatWasAsked(t *testing.T) {
	for _, nodes := range []int{1_000, 2_000, 10_000, 100_000, 1_000_000} {
		if got := shapeFor(nodes).nodes(); got < nodes*2/3 || got > nodes*4/3 {
			t.Errorf("%d nodes for %d", got, nodes)
		}
	}
}

// Other cases have the ratio to their reference case.
func TestLastLineOfHash(t *testing.T) {
	f := &figures{name: "hash", nodes: 3, contenders: []*contender{
		{name: "fevalgraph", took: []time.Duration{3 * time.Second}},
		{name: sha256Loop, took: []time.Duration{2 * time.Second}},
	}}
	encoded, err := json.Marshal(f.line())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"case":"hash","nodes":3,"fevalgraph_s":3,"ninja_s":0,"lstat_s":0,"sha256_s":2,"ratio":1.5}`
	if string(encoded) != want {
		t.Errorf("got  %s\nwant %s", encoded, want)
	}
}

// The report on an edit contains the times of its parts.
func TestLastLineOfEdit(t *testing.T) {
	f := &figures{name: "edit", nodes: 3, contenders: []*contender{
		{name: "fevalgraph", took: []time.Duration{6 * time.Second}},
		{name: sameAgain, took: []time.Duration{3 * time.Second}},
		{name: itsWork, took: []time.Duration{time.Second}},
	}}
	encoded, err := json.Marshal(f.line())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"case":"edit","nodes":3,"fevalgraph_s":6,"ninja_s":0,"lstat_s":0,"noop_s":3,"work_s":1,"of_noop_and_work":1.5,"ratio":0}`
	if string(encoded) != want {
		t.Errorf("got  %s\nwant %s", encoded, want)
	}
	var table strings.Builder
	if f.write(&table); !strings.Contains(table.String(), "takes 1.50 of") {
		t.Errorf("no ratio in\n%s", table.String())
	}
}

// Scripts read the last line.
func TestLastLine(t *testing.T) {
	f := &figures{name: "noop", nodes: 7, contenders: []*contender{
		{name: "fevalgraph", took: []time.Duration{3 * time.Second, time.Second, 2 * time.Second}},
		{name: "ninja", took: []time.Duration{4 * time.Second}},
		{name: "lstat loop", took: []time.Duration{time.Second, 2 * time.Second}},
	}}
	encoded, err := json.Marshal(f.line())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"case":"noop","nodes":7,"fevalgraph_s":2,"ninja_s":4,"lstat_s":1.5,"ratio":0.5}`
	if string(encoded) != want {
		t.Errorf("got  %s\nwant %s", encoded, want)
	}
	var table strings.Builder
	f.write(&table)
	if !strings.Contains(table.String(), "0.50x") {
		t.Errorf("no ratio in\n%s", table.String())
	}
}
