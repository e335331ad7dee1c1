package view

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Nodes that are all stale for a reason of the machine's have one line; so have unknown ones.
func TestPlanLines(t *testing.T) {
	fresh := PlanNode{"a", "fresh", "", ""}
	env := PlanNode{"b", "stale", "env HOME changed", "env"}
	follows := PlanNode{"c", "stale", "follows b", "follows"}
	asset := PlanNode{"d", "new", "never ran", "new"}
	unknown := PlanNode{"e", "unknown", "", "unknown"}
	for _, try := range []struct {
		name    string
		nodes   []PlanNode
		unknown int
		verbose bool
		lines   []PlanLine
		causes  []CauseCount
	}{
		{"a reason of the machine's", []PlanNode{fresh, env, follows}, 0, false,
			[]PlanLine{{"~", "2 nodes", "env HOME changed (-v lists them)"}}, []CauseCount{{"env", 1}, {"follows", 1}}},
		{"which is listed", []PlanNode{fresh, env, follows}, 0, true,
			[]PlanLine{{"=", "a", ""}, {"~", "b", "env HOME changed"}, {"~", "c", "follows b"}}, []CauseCount{{"env", 1}, {"follows", 1}}},
		{"beside one of the project's", []PlanNode{env, follows, follows, asset}, 0, false,
			[]PlanLine{{"~", "b", "env HOME changed"}, {"~", "c", "follows b"}, {"~", "c", "follows b"}, {"+", "d", "never ran"}},
			[]CauseCount{{"follows", 2}, {"env", 1}, {"new", 1}}},
		{"not known", []PlanNode{fresh, unknown}, 1, false, []PlanLine{{"?", "1 node", "unknown: a backend was not asked (-v lists them)"}}, nil},
	} {
		lines, causes := PlanLines(slices.Values(try.nodes), try.unknown, try.verbose)
		if !reflect.DeepEqual(lines, try.lines) || !reflect.DeepEqual(causes, try.causes) {
			t.Errorf("%s: %q by %v, want %q by %v", try.name, lines, causes, try.lines, try.causes)
		}
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
		if err := WriteJSONList(&got, "ones", list, tail{len(list)}); err != nil {
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
