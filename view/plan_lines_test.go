package view

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A stale checkpoint has a line with the cause at the root; many have one together.
func TestPlanLines(t *testing.T) {
	node := func(problem, checkpoint, solution, state, root string) PlanNode {
		return PlanNode{Addr: "a", State: state, Cause: "follows b", Category: "follows", Cell: problem + "/" + solution,
			Checkpoint: problem + "/" + checkpoint + "/" + solution, Of: problem + "/" + checkpoint, In: problem, Root: root, RootCategory: "tests", RootState: state}
	}
	many := func(problems, solutions int) (nodes []PlanNode) {
		for p := range problems {
			for s := range solutions {
				nodes = append(nodes, node(fmt.Sprint("p", p), "one", fmt.Sprint("s", s), "stale", "t.py changed"))
			}
		}
		return nodes
	}
	fresh := PlanNode{Addr: "f", State: "fresh"}
	unknown := PlanNode{Addr: "e", State: "unknown"}
	tests := PlanNode{Addr: "tests", State: "stale", Cause: "t.py changed", Category: "file", Feeds: true}
	sum := PlanNode{Addr: "sum", State: "stale", Cause: "follows a", Category: "follows", Cell: "p/s"}
	task := PlanNode{Addr: "task", State: "new", Cause: "never ran", Category: "new"}
	for _, try := range []struct {
		name    string
		nodes   []PlanNode
		unknown int
		lines   []PlanLine
		causes  []CauseCount
	}{
		{"its inputs and sums have none", []PlanNode{fresh, tests, node("p", "one", "s", "stale", "t.py changed"), sum}, 0,
			[]PlanLine{{"~", "p/one/s", "t.py changed"}}, []CauseCount{{"tests", 1}}},
		{"what nothing needs has one", []PlanNode{task, node("p", "one", "s", "stale", "t.py changed")}, 0,
			[]PlanLine{{"~", "p/one/s", "t.py changed"}, {"+", "task", "never ran"}}, []CauseCount{{"tests", 1}}},
		{"nodes alone", []PlanNode{tests, sum}, 0, []PlanLine{{"~", "tests", "t.py changed"}, {"~", "sum", "follows a"}}, []CauseCount{{"file", 1}, {"follows", 1}}},
		{"two causes", []PlanNode{node("p", "one", "s", "stale", "t.py changed"), node("p", "one", "s", "stale", "u.py changed")}, 0,
			[]PlanLine{{"~", "p/one/s", "t.py changed, and 1 other cause"}}, []CauseCount{{"tests", 1}}},
		{"what cannot run outweighs", []PlanNode{node("p", "one", "s", "stale", "t.py changed"), node("p", "one", "s", "broken", "no uv"), node("p", "one", "s", "stale", "v")}, 0,
			[]PlanLine{{"!", "p/one/s", "no uv"}}, []CauseCount{{"tests", 1}}},
		{"by checkpoint", many(3, 10), 0, []PlanLine{{"~", "p0/one (10 checkpoints)", "t.py changed"}, {"~", "p1/one (10 checkpoints)", "t.py changed"}, {"~", "p2/one (10 checkpoints)", "t.py changed"}},
			[]CauseCount{{"tests", 30}}},
		{"by cause", many(30, 1), 0, []PlanLine{{"~", "30 checkpoints", "t.py changed"}}, []CauseCount{{"tests", 30}}},
		{"one of a cause", append(many(30, 1), node("q", "one", "s", "failed", "exit code 1")), 0,
			[]PlanLine{{"~", "30 checkpoints", "t.py changed"}, {"!", "q/one/s", "exit code 1"}}, []CauseCount{{"tests", 31}}},
		{"not known", []PlanNode{fresh, unknown}, 1, []PlanLine{{"?", "1 node", "unknown: a backend was not queried (-v lists them)"}}, nil},
	} {
		s := PlanLines(slices.Values(try.nodes), try.unknown, false)
		if !reflect.DeepEqual(s.Lines, try.lines) || !reflect.DeepEqual(s.Causes, try.causes) {
			t.Errorf("%s: %q by %v, want %q by %v", try.name, s.Lines, s.Causes, try.lines, try.causes)
		}
	}
	each := PlanLines(slices.Values([]PlanNode{fresh, tests, sum}), 0, true)
	if want := []PlanLine{{"=", "f", ""}, {"~", "tests", "t.py changed"}, {"~", "sum", "follows a"}}; !reflect.DeepEqual(each.Lines, want) {
		t.Errorf("with every node: %q, want %q", each.Lines, want)
	}
}

// However many causes there are, a plan is short.
func TestPlanIsShort(t *testing.T) {
	var nodes []PlanNode
	for i := range 1000 {
		nodes = append(nodes, PlanNode{State: "stale", Checkpoint: fmt.Sprint(i), Cell: "c", Of: fmt.Sprint(i), In: fmt.Sprint(i), Root: fmt.Sprint(i)})
	}
	if s := PlanLines(slices.Values(nodes), 0, false); len(s.Lines) != mostPlanLines+1 || s.Checkpoints != 1000 {
		t.Errorf("%d lines of %d checkpoints", len(s.Lines), s.Checkpoints)
	}
}

func TestReasons(t *testing.T) {
	var b strings.Builder
	Reasons(&b, []Reason{{"x broken", "no uv"}, {"y broken", "no\x1b disk"}, {"z broken", "no uv"}, {"w broken", "no uv"}}, "node")
	want := "x broken: no uv\n  and 2 more nodes for the same reason\ny broken: no\\x1b disk\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// A long list is written as encoding it at once would.
func TestWriteJSONList(t *testing.T) {
	type one struct {
		Name string `json:"name"`
	}
	type tail struct {
		Count int `json:"count"`
	}
	for _, list := range [][]one{{}, {{"<a>"}}, {{"a"}, {"b"}}} {
		var got, want strings.Builder
		if err := WriteJSONList(&got, "ones", slices.Values(list), tail{len(list)}); err != nil {
			t.Fatal(err)
		}
		whole := struct {
			Schema int   `json:"schema"`
			Ones   []one `json:"ones"`
			tail
		}{1, list, tail{len(list)}}
		if err := WriteJSON(&want, whole); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got %s, want %s", got.String(), want.String())
		}
	}
}
