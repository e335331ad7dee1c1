package graph

import (
	"bytes"
	"testing"
)

func TestRender(t *testing.T) {
	g := New()
	source := g.Add(Node{Addr: "submission:kv/a", Kind: "submission", Labels: []Label{{"problem", "kv"}, {"tag", "cli"}, {"tag", "web"}}})
	run := g.Add(Node{Addr: `pytest:kv/a["x"]#2`, Kind: "pytest", Pool: "gpu", Deps: []Dep{{On: source, As: "submission"}}})
	left := g.Add(Node{Addr: "other", Kind: "other"})
	last := g.Add(Node{Addr: "sum<&>", Kind: "aggregate", Deps: []Dep{{On: run, As: "a"}, {On: left, As: "b"}}})
	for _, try := range []struct{ format, want string }{
		{"dot", `digraph fevalgraph {
  rankdir=LR;
  node [shape=box, fontname="monospace"];
  n0 [label="submission:kv/a"];
  n1 [label="pytest:kv/a[\"x\"]#2"];
  n3 [label="sum<&>"];
  n0 -> n1;
  n1 -> n3;
}
`},
		{"mermaid", `flowchart LR
  n0["submission:kv/a"]
  n1["pytest:kv/a#91;#quot;x#quot;#93;#35;2"]
  n3["sum<&>"]
  n0 --> n1
  n1 --> n3
`},
		{"json", `{
  "schema": 1,
  "nodes": [
    {
      "addr": "submission:kv/a",
      "kind": "submission",
      "pool": "cpu",
      "labels": {
        "problem": "kv",
        "tag": "cli,web"
      },
      "needs": []
    },
    {
      "addr": "pytest:kv/a[\"x\"]#2",
      "kind": "pytest",
      "pool": "gpu",
      "labels": {},
      "needs": [
        "submission:kv/a"
      ]
    },
    {
      "addr": "sum<&>",
      "kind": "aggregate",
      "pool": "cpu",
      "labels": {},
      "needs": [
        "pytest:kv/a[\"x\"]#2"
      ]
    }
  ]
}
`},
	} {
		var b bytes.Buffer
		if err := g.Render(&b, try.format, []ID{source, run, last}); err != nil || b.String() != try.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", try.format, err, b.String(), try.want)
		}
	}
	if err := g.Render(&bytes.Buffer{}, "svg", nil); err == nil || err.Error() != `graph format "svg": want dot, mermaid, json` {
		t.Errorf("unknown format: %v", err)
	}
	var b bytes.Buffer
	if err := g.Render(&b, "json", nil); err != nil || b.String() != "{\n  \"schema\": 1,\n  \"nodes\": []\n}\n" {
		t.Errorf("nothing: %v\n%s", err, b.String())
	}
}
