package graph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Formats lists what Drawing.Render knows.
var Formats = []string{"dot", "mermaid", "svg"}

// Render writes the drawing; equal drawings are equal texts.
func (d *Drawing) Render(w io.Writer, format string) error {
	var b bytes.Buffer
	switch format {
	case "dot":
		d.renderDot(&b)
	case "mermaid":
		d.renderMermaid(&b)
	case "svg":
		d.renderSVG(&b)
	default:
		return fmt.Errorf("graph format %q: want %s", format, strings.Join(Formats, ", "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (d *Drawing) renderDot(b *bytes.Buffer) {
	b.WriteString("digraph fevalgraph {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\"];\n")
	for i := range d.boxes {
		one := &d.boxes[i]
		label, fill := one.name, ""
		if notes := one.notes(); notes != "" {
			label += "\n" + notes
		}
		if colour := one.fill(); colour != "" {
			fill = fmt.Sprintf(",\n    fillcolor=%q", colour)
		}
		fmt.Fprintf(b, "  n%d [label=%q%s];\n", i, label, fill)
	}
	for _, e := range d.edges {
		fmt.Fprintf(b, "  n%d -> n%d;\n", e[0], e[1])
	}
	b.WriteString("}\n")
}

// mermaidEscapes: labels have no escapes but HTML entities.
var mermaidEscapes = strings.NewReplacer("#", "#35;", `"`, "#quot;", "[", "#91;", "]", "#93;", "<", "#lt;", ">", "#gt;")

func (d *Drawing) renderMermaid(b *bytes.Buffer) {
	b.WriteString("flowchart LR\n")
	shown := map[string]bool{}
	for i := range d.boxes {
		one := &d.boxes[i]
		label, class := mermaidEscapes.Replace(one.name), ""
		if notes := one.notes(); notes != "" {
			label += "<br>" + notes
		}
		if one.fill() != "" {
			class, shown[one.state] = ":::"+one.state, true
		}
		fmt.Fprintf(b, "  n%d[\"%s\"]%s\n", i, label, class)
	}
	for _, e := range d.edges {
		fmt.Fprintf(b, "  n%d --> n%d\n", e[0], e[1])
	}
	for _, s := range colours {
		if shown[s.name] {
			fmt.Fprintf(b, "  classDef %s fill:%s\n", s.name, s.fill)
		}
	}
}

// The sizes of an SVG, in pixels.
const (
	svgLetter  = 8  // of monospace at 12px, rounded up
	svgHeight  = 36 // of a box
	svgGap     = 14 // between boxes of a column
	svgBetween = 70 // between columns
	svgMargin  = 16
	svgLongest = 44 // letters of a name that is not shortened
)

// renderSVG lays boxes out in columns, in their order.
func (d *Drawing) renderSVG(b *bytes.Buffer) {
	type place struct{ x, y, width int }
	places, names := make([]place, len(d.boxes)), make([]string, len(d.boxes))
	var widths, heights []int // of columns
	for i := range d.boxes {
		one := &d.boxes[i]
		for len(widths) <= one.column {
			widths, heights = append(widths, 0), append(heights, svgMargin)
		}
		names[i] = one.name
		if letters := []rune(one.name); len(letters) > svgLongest {
			names[i] = string(letters[:svgLongest/2]) + "…" + string(letters[len(letters)-svgLongest/2+1:])
		}
		places[i] = place{y: heights[one.column], width: svgLetter*max(len([]rune(names[i])), len(one.notes())) + 16}
		heights[one.column] += svgHeight + svgGap
		widths[one.column] = max(widths[one.column], places[i].width)
	}
	width, height := svgMargin, 2*svgMargin
	lefts := make([]int, len(widths))
	for column, w := range widths {
		if lefts[column] = width; w > 0 {
			width += w + svgBetween
		}
		height = max(height, heights[column]-svgGap+svgMargin)
	}
	width = max(width-svgBetween, svgMargin) + svgMargin
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="monospace" font-size="12">`+"\n", width, height, width, height)
	for i := range d.boxes {
		places[i].x, places[i].width = lefts[d.boxes[i].column], widths[d.boxes[i].column]
	}
	for _, e := range d.edges {
		from, to := places[e[0]], places[e[1]]
		x, bend := from.x+from.width, svgBetween/2
		fmt.Fprintf(b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="#999"/>`+"\n", x, from.y+svgHeight/2, x+bend, from.y+svgHeight/2, to.x-bend, to.y+svgHeight/2, to.x, to.y+svgHeight/2)
	}
	for i := range d.boxes {
		one, at := &d.boxes[i], places[i]
		fmt.Fprintf(b, `<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="#666"/>`, svgText(one.name), at.x, at.y, at.width, svgHeight, cmp.Or(one.fill(), "#fff"))
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text><text x="%d" y="%d" fill="#555">%s</text></g>`+"\n", at.x+8, at.y+15, svgText(names[i]), at.x+8, at.y+29, svgText(one.notes()))
	}
	b.WriteString("</svg>\n")
}

// svgText escapes a text for XML, which has no control characters.
func svgText(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // into memory
	return b.String()
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
	// State is as in plan; Seconds the work took, or is expected to take.
	State   string  `json:"state,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// RenderJSON writes some nodes, in topological order, and the edges among them.
func (g *Graph) RenderJSON(w io.Writer, ids []ID, stateOf func(ID) NodeState) error {
	in := make(map[ID]bool, len(ids))
	nodes := []jsonNode{}
	for _, id := range ids {
		in[id] = true
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
		l := stateOf(id)
		out.State, out.Seconds = l.State, l.Seconds
		nodes = append(nodes, out)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(Rendered{1, nodes})
}
