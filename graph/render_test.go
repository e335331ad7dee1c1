package graph

import (
	"bytes"
	"testing"
)

// drawn returns a graph with names that each format must escape, and the states of its nodes.
func drawn() (g *Graph, ids []ID, states func(ID) NodeState) {
	g = New()
	source := g.Add(Node{Addr: "submission:kv/a", Kind: "submission", Labels: []Label{{"problem", "kv"}, {"tag", "cli"}, {"tag", "web"}}})
	run := g.Add(Node{Addr: `pytest:kv/a["x"]#2`, Kind: "pytest", Pool: "gpu", Deps: []Dep{{On: source, As: "submission"}}})
	other := g.Add(Node{Addr: "other", Kind: "other"})
	again := g.Add(Node{Addr: "pytest:b", Kind: "pytest", Deps: []Dep{{On: source, As: "submission"}}})
	last := g.Add(Node{Addr: "sum<&>", Kind: "aggregate", Deps: []Dep{{On: run, As: "a"}, {On: again, As: "c"}, {On: other, As: "b"}}})
	known := map[ID]NodeState{source: {"fresh", 0.0001}, run: {"stale", 61}, again: {"fresh", 1.5}, last: {}}
	return g, []ID{source, run, again, last}, func(id ID) NodeState { return known[id] }
}

func TestRender(t *testing.T) {
	g, ids, states := drawn()
	alone := func(*Node) string { return "" }
	kinds := func(n *Node) string { return n.Kind }
	for _, try := range []struct {
		format string
		fold   func(*Node) string
		want   string
	}{
		{"dot", alone, `digraph fevalgraph {
  rankdir=LR;
  node [shape=box, style=filled, fillcolor=white, fontname="monospace"];
  n0 [label="submission:kv/a\nfresh",
    fillcolor="#cdebc9"];
  n1 [label="pytest:kv/a[\"x\"]#2\nstale, 1m01s",
    fillcolor="#ffe2a0"];
  n2 [label="pytest:b\nfresh, 1.5s",
    fillcolor="#cdebc9"];
  n3 [label="sum<&>"];
  n0 -> n1;
  n0 -> n2;
  n1 -> n3;
  n2 -> n3;
}
`},
		{"mermaid", alone, `flowchart LR
  n0["submission:kv/a<br>fresh"]:::fresh
  n1["pytest:kv/a#91;#quot;x#quot;#93;#35;2<br>stale, 1m01s"]:::stale
  n2["pytest:b<br>fresh, 1.5s"]:::fresh
  n3["sum#lt;&#gt;"]
  n0 --> n1
  n0 --> n2
  n1 --> n3
  n2 --> n3
  classDef stale fill:#ffe2a0
  classDef fresh fill:#cdebc9
`},
		{"mermaid", kinds, `flowchart LR
  n0["submission<br>fresh"]:::fresh
  n1["pytest<br>2 nodes, stale, 1m02s"]:::stale
  n2["aggregate"]
  n0 --> n1
  n1 --> n2
  classDef stale fill:#ffe2a0
  classDef fresh fill:#cdebc9
`},
	} {
		var b bytes.Buffer
		if err := g.Draw(ids, states, try.fold).Render(&b, try.format); err != nil || b.String() != try.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", try.format, err, b.String(), try.want)
		}
	}
	if err := g.Draw(nil, states, alone).Render(&bytes.Buffer{}, "png"); err == nil || err.Error() != `graph format "png": want dot, mermaid` {
		t.Errorf("unknown format: %v", err)
	}
}

func TestRenderJSON(t *testing.T) {
	g, ids, states := drawn()
	const want = `{
  "schema": 1,
  "nodes": [
    {
      "addr": "submission:kv/a",
      "kind": "submission",
      "pool": "cpu",
      "labels": {
        "kind": "submission",
        "problem": "kv",
        "tag": "cli,web"
      },
      "needs": [],
      "state": "fresh",
      "seconds": 0.0001
    },
    {
      "addr": "pytest:kv/a[\"x\"]#2",
      "kind": "pytest",
      "pool": "gpu",
      "labels": {
        "kind": "pytest"
      },
      "needs": [
        "submission:kv/a"
      ],
      "state": "stale",
      "seconds": 61
    }
  ]
}
`
	for _, try := range []struct {
		ids  []ID
		want string
	}{{ids[:2], want}, {nil, "{\n  \"schema\": 1,\n  \"nodes\": []\n}\n"}} {
		var b bytes.Buffer
		if err := g.RenderJSON(&b, try.ids, states); err != nil || b.String() != try.want {
			t.Errorf("%v\n%s\nwant\n%s", err, b.String(), try.want)
		}
	}
}
