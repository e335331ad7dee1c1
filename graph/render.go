package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Formats lists what Render knows.
var Formats = []string{"dot", "mermaid", "json"}

// Render writes the nodes in ids and the edges among them, in the order of
// ids, which makes the text canonical.
func (g *Graph) Render(w io.Writer, format string, ids []ID) error {
	in := make(map[ID]bool, len(ids))
	for _, id := range ids {
		in[id] = true
	}
	var b bytes.Buffer
	switch format {
	case "dot":
		g.renderDot(&b, ids, in)
	case "mermaid":
		g.renderMermaid(&b, ids, in)
	case "json":
		if err := g.renderJSON(&b, ids, in); err != nil {
			return err
		}
	default:
		return fmt.Errorf("graph format %q: want %s", format, strings.Join(Formats, ", "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (g *Graph) renderDot(b *bytes.Buffer, ids []ID, in map[ID]bool) {
	b.WriteString("digraph fevalgraph {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n")
	for _, id := range ids {
		fmt.Fprintf(b, "  n%d [label=%q];\n", id, g.nodes[id].Addr)
	}
	g.eachEdge(ids, in, func(from, to ID) { fmt.Fprintf(b, "  n%d -> n%d;\n", from, to) })
	b.WriteString("}\n")
}

func (g *Graph) renderMermaid(b *bytes.Buffer, ids []ID, in map[ID]bool) {
	b.WriteString("flowchart LR\n")
	for _, id := range ids {
		// Mermaid has no escapes in labels but HTML entities.
		label := strings.NewReplacer("#", "#35;", `"`, "#quot;", "[", "#91;", "]", "#93;").Replace(g.nodes[id].Addr)
		fmt.Fprintf(b, "  n%d[\"%s\"]\n", id, label)
	}
	g.eachEdge(ids, in, func(from, to ID) { fmt.Fprintf(b, "  n%d --> n%d\n", from, to) })
}

// Rendered encodes a part of a graph as JSON.
type Rendered struct {
	Schema int        `json:"schema"`
	Nodes  []jsonNode `json:"nodes"`
}

type jsonNode struct {
	Addr   string            `json:"addr"`
	Kind   string            `json:"kind"`
	Pool   string            `json:"pool"`
	Labels map[string]string `json:"labels"`
	Needs  []string          `json:"needs"`
}

func (g *Graph) renderJSON(b *bytes.Buffer, ids []ID, in map[ID]bool) error {
	nodes := []jsonNode{}
	for _, id := range ids {
		n := &g.nodes[id]
		out := jsonNode{Addr: n.Addr, Kind: n.Kind, Pool: n.Pool, Labels: map[string]string{}, Needs: []string{}}
		if out.Pool == "" {
			out.Pool = CPUPool
		}
		for _, l := range n.Labels {
			if out.Labels[l.Name] != "" {
				out.Labels[l.Name] += "," + l.Value
			} else {
				out.Labels[l.Name] = l.Value
			}
		}
		for _, d := range n.Deps {
			if in[d.On] {
				out.Needs = append(out.Needs, g.nodes[d.On].Addr)
			}
		}
		nodes = append(nodes, out)
	}
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(Rendered{1, nodes})
}

func (g *Graph) eachEdge(ids []ID, in map[ID]bool, fn func(from, to ID)) {
	for _, id := range ids {
		for _, d := range g.nodes[id].Deps {
			if in[d.On] {
				fn(d.On, id)
			}
		}
	}
}
