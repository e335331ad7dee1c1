package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Formats lists the formats of Drawing.Render.
var Formats = []string{"dot", "mermaid"}

// Render writes the drawing; equal drawings have equal output.
func (d *Drawing) Render(w io.Writer, format string) error {
	var b bytes.Buffer
	switch format {
	case "dot":
		d.renderDot(&b)
	case "mermaid":
		d.renderMermaid(&b)
	default:
		return fmt.Errorf("graph format %q: want %s", format, strings.Join(Formats, ", "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (d *Drawing) renderDot(b *bytes.Buffer) {
	b.WriteString("digraph fevalgraph {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\"];\n")
	for i := range d.Boxes {
		one := &d.Boxes[i]
		label, fill := one.Name, ""
		if notes := one.Notes(); notes != "" {
			label += "\n" + notes
		}
		if colour := one.fill(); colour != "" {
			fill = fmt.Sprintf(",\n    fillcolor=%q", colour)
		}
		fmt.Fprintf(b, "  n%d [label=%q%s];\n", i, label, fill)
	}
	for _, e := range d.Edges {
		fmt.Fprintf(b, "  n%d -> n%d;\n", e[0], e[1])
	}
	b.WriteString("}\n")
}

// mermaidEscapes escapes labels. Mermaid supports only HTML entities there.
var mermaidEscapes = strings.NewReplacer("#", "#35;", `"`, "#quot;", "[", "#91;", "]", "#93;", "<", "#lt;", ">", "#gt;")

func (d *Drawing) renderMermaid(b *bytes.Buffer) {
	b.WriteString("flowchart LR\n")
	shown := map[string]bool{}
	for i := range d.Boxes {
		one := &d.Boxes[i]
		label, class := mermaidEscapes.Replace(one.Name), ""
		if notes := one.Notes(); notes != "" {
			label += "<br>" + notes
		}
		if one.fill() != "" {
			class, shown[one.State] = ":::"+one.State, true
		}
		fmt.Fprintf(b, "  n%d[\"%s\"]%s\n", i, label, class)
	}
	for _, e := range d.Edges {
		fmt.Fprintf(b, "  n%d --> n%d\n", e[0], e[1])
	}
	for _, s := range colours {
		if shown[s.name] {
			fmt.Fprintf(b, "  classDef %s fill:%s\n", s.name, s.fill)
		}
	}
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
	// State is as in plan; Seconds is the actual or expected duration of its work.
	State   string  `json:"state,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// RenderJSON writes some nodes, in topological order, and the edges among them.
func (g *Graph) RenderJSON(w io.Writer, ids []ID, stateOf func(ID) NodeState) error {
	in := make(map[ID]bool, len(ids))
	nodes := []jsonNode{}
	for _, id := range ids {
		in[id] = true
		n := g.Node(id)
		out := jsonNode{Addr: n.Addr, Kind: n.Kind, Pool: n.Pool, Labels: map[string]string{"kind": n.Kind}, Needs: []string{}}
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
				out.Needs = append(out.Needs, g.Node(d.On).Addr)
			}
		}
		l := stateOf(id)
		out.State, out.Seconds = l.State, l.Seconds
		nodes = append(nodes, out)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(Rendered{1, nodes})
}
