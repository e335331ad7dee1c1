package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Field is one labelled line of a manifest.
type Field struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// DepState is a dependency and whether it is fresh.
type DepState struct {
	Addr  string `json:"addr"`
	State string `json:"state"`
	Cause string `json:"cause"`
}

// Explanation explains why a node ran, would run, or was served.
type Explanation struct {
	Addr        string         `json:"addr"`
	Kind        string         `json:"kind"`
	State       string         `json:"state"`                  // "fresh", "stale", "new", "broken", "failed"
	Key         string         `json:"key,omitempty"`          // 64 hexadecimal digits
	PreviousKey string         `json:"previous_key,omitempty"` // key of the compared record; "" without one
	Cause       string         `json:"cause"`
	Root        string         `json:"root_cause,omitempty"` // original cause of a node that follows others
	RootAddr    string         `json:"root,omitempty"`       // address of the node with that cause
	Run         string         `json:"run,omitempty"`        // run that produced the stored result, or the selected run
	Changes     []event.Change `json:"changes"`              // previous manifest -> current one
	Omitted     int            `json:"changes_omitted,omitempty"`
	Fields      []Field        `json:"fields"` // the current manifest, in its order
	Deps        []DepState     `json:"deps"`
	LastClass   string         `json:"-"` // how the last attempt ended
	LastMessage string         `json:"-"`
	Verbose     bool           `json:"-"` // show Fields, and values in full
}

// Explain writes e to fit a page.
func Explain(w io.Writer, e Explanation, page text.Page) {
	p := text.NewPalette(page.Color)
	out := &strings.Builder{}
	defer func() { io.WriteString(w, text.Hang(out.String(), page.Width)) }()

	fmt.Fprintf(out, "%s  %s\n", p.Strong(text.Line(e.Addr, 0)), text.Line(e.Kind, 0))
	fact := func(label, value string) {
		if value != "" {
			fmt.Fprintf(out, "  %-8s %s\n", label, value)
		}
	}
	fact("state", paintState(p, text.Line(e.State, 0)))
	fact("cause", text.Line(e.Cause, 0))
	if e.Root != "" {
		fact("root", text.Line(e.RootAddr+"  "+e.Root, 0))
	}
	key := e.value(e.Key)
	if e.PreviousKey != "" && e.PreviousKey != e.Key {
		key = strings.TrimPrefix(key+p.Quiet("  was "+e.value(e.PreviousKey)), "  ")
	}
	fact("key", key)
	fact("run", text.Line(e.Run, 0))
	last := text.Line(e.LastClass, 0)
	if message := strings.TrimSpace(e.LastMessage); message != "" {
		last = strings.TrimPrefix(last+": ", ": ") + indent(text.Block(message), 11)
	}
	fact("last", last)

	if len(e.Changes) > 0 {
		fmt.Fprintf(out, "\n%s\n", text.Count(len(e.Changes)+e.Omitted, "change"))
		for _, c := range e.Changes {
			e.change(out, p, c)
		}
		if e.Omitted > 0 {
			fmt.Fprintf(out, "  and %d more, which the record of the run omits\n", e.Omitted)
		}
	}
	if len(e.Deps) > 0 {
		fmt.Fprintln(out, "\ndepends on")
		width := 0
		for _, d := range e.Deps {
			width = max(width, text.Width(text.Line(d.State, 0)))
		}
		for _, d := range e.Deps {
			fmt.Fprintf(out, "  %s  %s", text.Pad(paintState(p, text.Line(d.State, 0)), width), text.Line(d.Addr, 0))
			if d.Cause != "" {
				fmt.Fprint(out, p.Quiet("  "+text.Line(d.Cause, 0)))
			}
			fmt.Fprintln(out)
		}
	}
	e.manifest(out, p)
}

func (e Explanation) change(out io.Writer, p text.Palette, c event.Change) {
	field := text.Line(c.Field, 0)
	switch {
	case c.Old == "" && c.New == "":
		fmt.Fprintf(out, "  %s %s", p.Doubt("~"), field)
	case c.Old == "":
		fmt.Fprintf(out, "  %s %s: %s", p.Good("+"), field, e.value(c.New))
	case c.New == "":
		fmt.Fprintf(out, "  %s %s: was %s", p.Bad("-"), field, e.value(c.Old))
	default:
		before, after := e.value(c.Old), e.value(c.New)
		if before == after { // the difference was cut off
			before, after = text.Line(c.Old, 0), text.Line(c.New, 0)
		}
		fmt.Fprintf(out, "  %s %s: %s -> %s", p.Doubt("~"), field, before, after)
	}
	if c.Via != "" {
		fmt.Fprint(out, p.Quiet("  from "+text.Line(c.Via, 0)))
	}
	fmt.Fprintln(out)
}

func (e Explanation) manifest(out io.Writer, p text.Palette) {
	if len(e.Fields) == 0 {
		return
	}
	if !e.Verbose {
		fmt.Fprintf(out, "\n%s\n", p.Quiet(text.Count(len(e.Fields), "manifest field")+", shown with -v"))
		return
	}
	fmt.Fprintln(out, "\nmanifest")
	width := 0
	for _, f := range e.Fields {
		width = max(width, text.Width(text.Line(f.Label, 0)))
	}
	// A single long label must not push all values off the screen.
	width = min(width, 32)
	for _, f := range e.Fields {
		fmt.Fprintln(out, strings.TrimRight("  "+text.Pad(text.Line(f.Label, 0), width)+"  "+e.value(f.Value), " "))
	}
}

// value shows a value on one line. Without Verbose, digests and keys keep
// their first 12 digits and other values 80 columns.
func (e Explanation) value(s string) string {
	if e.Verbose {
		return text.Line(s, 0)
	}
	hash, size, sized := strings.Cut(s, "/")
	if isHash(hash) {
		if s = hash[:12] + text.Ellipsis; sized {
			s += "/" + text.Line(size, 0)
		}
		return s
	}
	return text.Line(s, 80)
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// indent moves every line of s but the first right by n columns.
func indent(s string, n int) string {
	return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n))
}
