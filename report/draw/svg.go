package draw

import (
	"encoding/csv"
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Figure is a figure and its data.
type Figure struct {
	Name    string // for file names, without an extension
	Title   string
	Note    string // how to read it, and what is omitted
	Columns []string
	Rows    [][]string // all data, with unrounded numbers
	Plot    func(width float64) *Drawing
}

// Width is the width of figures in files.
const Width = 880

// WriteSVG writes the figure as a separate file, with its title and note.
func (f *Figure) WriteSVG(w io.Writer) error {
	const top, line, columns = 34, 17, 146
	d := f.Plot(Width)
	notes := text.Fold(text.Line(f.Note, 0), columns)
	if f.Note == "" {
		notes = nil
	}
	height := top + d.Height + line*float64(len(notes)) + 12
	var b strings.Builder
	open(&b, Width, height, f.Title)
	framed := Drawing{}
	framed.Text(12, 18, "", "ftext strong", f.Title)
	for i, note := range notes {
		framed.Text(12, top+d.Height+line*(float64(i)+0.5), "", "fdim small", note)
	}
	framed.write(&b)
	b.WriteString(`<g transform="translate(0 ` + number(top) + `)">` + "\n")
	d.write(&b)
	b.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// open writes the beginning of a file, with its background.
func open(b *strings.Builder, width, height float64, title string) {
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="figure" width="` + number(width) + `" height="` + number(height) +
		`" viewBox="0 0 ` + number(width) + " " + number(height) + `" role="img"><title>` + escapeXML(title) + "</title><style>" + Style() + "</style>\n")
	back := Drawing{}
	back.Rectangle(0, 0, width, height, "fback", "")
	back.write(b)
}

// WriteCSV writes the data of the figure. field escapes a field.
func (f *Figure) WriteCSV(w io.Writer, field func(string) string) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	for _, row := range append([][]string{f.Columns}, f.Rows...) {
		fields := make([]string, len(row))
		for i, s := range row {
			fields[i] = field(s)
		}
		if err := out.Write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func number(v float64) string { return strconv.FormatFloat(round(v), 'f', -1, 64) }

// escapeXML escapes text for XML, including control characters.
func escapeXML(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text.Line(s, 0)))
	return b.String()
}

// write writes the shapes as SVG elements.
func (d *Drawing) write(b *strings.Builder) {
	for i := range d.Shapes {
		s := &d.Shapes[i]
		attributes, content := s.attributes(), ""
		if s.Kind == Text {
			content = escapeXML(s.Text)
		}
		if s.Title != "" {
			content += "<title>" + escapeXML(s.Title) + "</title>"
		}
		b.WriteString("<" + s.Kind)
		for _, a := range attributes {
			b.WriteString(" " + a[0] + `="` + a[1] + `"`)
		}
		if content == "" {
			b.WriteString("/>\n")
		} else {
			b.WriteString(">" + content + "</" + s.Kind + ">\n")
		}
	}
}

// attributes returns the attributes of the shape's element, as report/page/web/src/figure.tsx does.
func (s *Shape) attributes() [][2]string {
	all := [][2]string{{"class", s.Class}}
	put := func(name string, v float64) { all = append(all, [2]string{name, number(v)}) }
	switch s.Kind {
	case Rectangle:
		put("x", s.X)
		put("y", s.Y)
		put("width", s.W)
		put("height", s.H)
	case Line:
		put("x1", s.X)
		put("y1", s.Y)
		put("x2", s.X+s.W)
		put("y2", s.Y+s.H)
	case Circle:
		put("cx", s.X)
		put("cy", s.Y)
		put("r", s.R)
	case Path:
		all = append(all, [2]string{"d", s.Path})
	case Text:
		put("x", s.X)
		put("y", s.Y)
		all = append(all, [2]string{"dy", ".35em"})
		if s.Anchor != "" {
			all = append(all, [2]string{"text-anchor", s.Anchor})
		}
		if s.Turned {
			all = append(all, [2]string{"transform", "rotate(-90 " + number(s.X) + " " + number(s.Y) + ")"})
		}
	}
	return all
}
