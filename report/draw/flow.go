package draw

import (
	"io"
	"strings"
)

// Box is a box of a flow.
type Box struct {
	Name   string
	Note   string // below the name
	Role   string // role of its color, such as "good"; "" means default
	Title  string // tooltip
	Column int
}

// Sizes of a flow, in pixels.
const (
	flowHeight  = 38
	flowGap     = 12 // between the boxes of a column
	flowBetween = 56 // between columns
	flowMargin  = 8
	flowLongest = 44 // letters of a name before it is shortened
)

// Flow draws boxes in columns, in their order, and edges between them from left to right. Its width depends on
// the boxes.
func Flow(boxes []Box, edges [][2]int) *Drawing {
	d := &Drawing{}
	type place struct{ x, y, width float64 }
	places, names := make([]place, len(boxes)), make([]string, len(boxes))
	var widths, heights []float64 // of columns
	for i := range boxes {
		b := &boxes[i]
		for len(widths) <= b.Column {
			widths, heights = append(widths, 0), append(heights, flowMargin)
		}
		names[i] = b.Name
		if letters := []rune(b.Name); len(letters) > flowLongest {
			names[i] = string(letters[:flowLongest/2]) + "…" + string(letters[len(letters)-flowLongest/2+1:])
		}
		places[i].y = heights[b.Column]
		heights[b.Column] += flowHeight + flowGap
		widths[b.Column] = max(widths[b.Column], max(TextWidth(names[i]), TextWidth(b.Note))+20)
	}
	d.Width, d.Height = flowMargin, 2*flowMargin
	lefts := make([]float64, len(widths))
	for column, w := range widths {
		if lefts[column] = d.Width; w > 0 {
			d.Width += w + flowBetween
		}
		d.Height = max(d.Height, heights[column]-flowGap+flowMargin)
	}
	d.Width = max(d.Width-flowBetween, flowMargin) + flowMargin
	for i := range boxes {
		places[i].x, places[i].width = lefts[boxes[i].Column], widths[boxes[i].Column]
	}
	for _, e := range edges {
		from, to := places[e[0]], places[e[1]]
		d.curve(from.x+from.width, from.y+flowHeight/2, to.x, to.y+flowHeight/2, flowBetween/2)
	}
	for i := range boxes {
		b, at := &boxes[i], places[i]
		class := "fback kdim"
		if b.Role != "" {
			class = "f" + b.Role + " faint k" + b.Role
			d.add(Shape{Kind: Rectangle, X: at.x, Y: at.y, W: at.width, H: flowHeight, R: 4, Class: "fback"}) // hides edges behind the box
		}
		d.add(Shape{Kind: Rectangle, X: at.x, Y: at.y, W: at.width, H: flowHeight, R: 4, Class: class, Title: b.Title})
		d.Text(at.x+8, at.y+12, "", "ftext", names[i])
		d.Text(at.x+8, at.y+27, "", "fdim small", b.Note)
	}
	return d
}

// curve adds a line between two points that starts and ends horizontally.
func (d *Drawing) curve(x1, y1, x2, y2, bend float64) {
	d.add(Shape{Kind: Path, Class: "kdim thin", Path: "M" + number(x1) + " " + number(y1) +
		"C" + number(x1+bend) + " " + number(y1) + " " + number(x2-bend) + " " + number(y2) + " " + number(x2) + " " + number(y2)})
}

// WriteSVG writes the drawing as an SVG file.
func (d *Drawing) WriteSVG(w io.Writer, title string) error {
	var b strings.Builder
	open(&b, d.Width, d.Height, title)
	d.write(&b)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
