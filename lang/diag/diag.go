// Package diag contains the diagnostics of loading and compiling a configuration. It depends only on the
// standard library, so that packages that must not import HCL can pass on and show them.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity of a diagnostic.
type Severity string

const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Pos is a position in a file; Line and Column count from 1, Byte from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a range in a source file. File is as shown to the user: relative to the project when inside it.
type Range struct {
	File  string `json:"file"`
	Start Pos    `json:"start"`
	End   Pos    `json:"end"`
}

// String returns "file:line,column".
func (r Range) String() string {
	if r.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d,%d", r.File, r.Start.Line, r.Start.Column)
}

// Value is the value of an expression in the snippet.
type Value struct {
	Expression string `json:"expression"`
	Value      string `json:"value"`
}

// Diagnostic is one finding. Code is stable; Detail describes the error, Hint how to fix it. Snippet
// contains the source lines of Range.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail,omitempty"`
	Hint     string   `json:"hint,omitempty"`
	Range    *Range   `json:"range,omitempty"`
	Context  string   `json:"context,omitempty"` // enclosing block: problem "kvstore"
	Snippet  []string `json:"snippet,omitempty"`
	Values   []Value  `json:"values,omitempty"`
	Fix      *Fix     `json:"fix,omitempty"`
}

// Fix is an edit that fixes a finding, if its hint guessed right.
type Fix struct {
	Range Range  `json:"range"`
	Text  string `json:"text"` // replaces the text in the range
}

// List is a list of findings. It is an error if any finding is an error.
type List []Diagnostic

// HasErrors reports whether any finding is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders the list by file, line, column and code.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		ra, rb := a.rangeOrZero(), b.rangeOrZero()
		return cmp.Or(
			cmp.Compare(ra.File, rb.File),
			cmp.Compare(ra.Start.Line, rb.Start.Line),
			cmp.Compare(ra.Start.Column, rb.Start.Column),
			cmp.Compare(a.Code, b.Code),
		)
	})
}

// Error returns the first error's position and summary, and the number of further errors.
func (l List) Error() string {
	errors := 0
	first := ""
	for _, d := range l {
		if d.Severity != Error {
			continue
		}
		if errors == 0 {
			first = d.Summary
			if d.Detail != "" {
				first += ": " + d.Detail
			}
			if d.Range != nil {
				first = d.Range.String() + ": " + first
			}
		}
		errors++
	}
	if errors > 1 {
		return fmt.Sprintf("%s (and %d more)", first, errors-1)
	}
	return first
}

func (d Diagnostic) rangeOrZero() Range {
	if d.Range == nil {
		return Range{}
	}
	return *d.Range
}

// Some formats names as part of a sentence, and shortens a long list.
func Some(names []string) string {
	const shown = 5
	if more := len(names) - shown; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}
