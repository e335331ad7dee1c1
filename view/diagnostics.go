package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Diagnostics writes every finding in the order of l, and their number below if there are several. Width
// wraps prose, 0 means no limit; source lines are never wrapped. It omits paragraphs that a finding lacks:
//
//	Error: unsupported argument [E0103]
//	  on fevalgraph.hcl line 12, in problem "kvstore":
//	   12 |   tiemout = "20s"
//	      |   ^^^^^^^
//	  with var.models = ["small"]
//
//	  Attribute "tiemout" is not supported in a problem block.
//
//	  hint: did you mean "timeout"?
func Diagnostics(w io.Writer, l diag.List, color bool, width int) {
	out := bufio.NewWriter(w)
	defer out.Flush()
	p := text.NewPalette(color)
	errors, warnings := 0, 0
	for i, d := range l {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if d.Severity == diag.Warning {
			warnings++
		} else {
			errors++
		}
		diagnostic(out, p, d, width)
	}
	if errors+warnings < 2 {
		return
	}
	var parts []string
	if errors > 0 {
		parts = append(parts, text.Count(errors, "error"))
	}
	if warnings > 0 {
		parts = append(parts, text.Count(warnings, "warning"))
	}
	fmt.Fprintf(out, "\n%s\n", strings.Join(parts, ", "))
}

func diagnostic(out io.Writer, p text.Palette, d diag.Diagnostic, width int) {
	title, paint := "Error: ", p.Bad
	if d.Severity == diag.Warning {
		title, paint = "Warning: ", p.Doubt
	}
	fmt.Fprint(out, paint(title)+p.Strong(text.Line(d.Summary, 0)))
	if d.Code != "" {
		fmt.Fprint(out, p.Quiet(" ["+text.Line(d.Code, 0)+"]"))
	}
	fmt.Fprintln(out)
	if place := place(d); place != "" {
		end := ""
		if d.Range != nil && len(d.Snippet) > 0 {
			end = ":"
		}
		fmt.Fprintf(out, "  %s%s\n", place, end)
	}
	if d.Range != nil {
		snippet(out, p, *d.Range, d.Snippet, paint)
	}
	for _, v := range d.Values {
		line := fmt.Sprintf("  with %s = %s", text.Line(v.Expression, 0), text.Line(v.Value, 0))
		fmt.Fprintln(out, text.Cut(line, valueColumns(width)))
	}
	if d.Detail != "" {
		fmt.Fprintln(out)
		prose(out, text.Block(d.Detail), width)
	}
	if d.Hint != "" {
		fmt.Fprintln(out)
		prose(out, "hint: "+text.Block(d.Hint), width)
	}
}

// place returns `on FILE line N, in BLOCK`, or the known part of it.
func place(d diag.Diagnostic) string {
	var parts []string
	if d.Range != nil && d.Range.File != "" {
		on := "on " + text.Line(d.Range.File, 0)
		if d.Range.Start.Line > 0 {
			on += fmt.Sprintf(" line %d", d.Range.Start.Line)
		}
		parts = append(parts, on)
	}
	if d.Context != "" {
		parts = append(parts, "in "+text.Line(d.Context, 0))
	}
	return strings.Join(parts, ", ")
}

// valueColumns returns the maximum width of a value: a list of a thousand problems would not help.
func valueColumns(width int) int {
	const most, least = 200, 40
	if width <= 0 {
		return most
	}
	return max(min(width, most), least)
}

func prose(out io.Writer, s string, width int) {
	const margin = 2
	if width > 0 {
		width = max(width-margin, 20)
	}
	for _, line := range text.Fold(s, width) {
		fmt.Fprintln(out, strings.TrimRight("  "+line, " "))
	}
}
