package view

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

func at(file string, line, column, endLine, endColumn int) *diag.Range {
	return &diag.Range{File: file, Start: diag.Pos{Line: line, Column: column}, End: diag.Pos{Line: endLine, Column: endColumn}}
}

func findings() diag.List {
	return diag.List{
		{
			Severity: diag.Error, Code: "unknown_argument", Summary: "unknown argument tiemout",
			Detail:  "A checkpoint block has no argument of this name, and none of the blocks that it inherits from has one either.\n\nIt has:\n  timeout   a duration\n  order     a number that is far too long to fit on this line but is laid out",
			Hint:    `did you mean "timeout"?`,
			Range:   at("fevalgraph.hcl", 12, 3, 12, 10),
			Context: `problem "kvstore"`,
			Snippet: []string{`  tiemout = "20s"`},
		},
		{
			Severity: diag.Warning, Code: "unused", Summary: "variable models is not used",
			Range: at("problems/日本.feval.hcl", 1, 1, 3, 2), Snippet: []string{`variable "models" {`, `  default = ["small"] # 日本`, `}`},
		},
		{
			Severity: diag.Error, Code: "wrong_type", Summary: "a list is needed",
			Range:   at("fevalgraph.hcl", 104, 12, 104, 31),
			Snippet: []string{"\tvalue = 日本[each.key][\"🙂é\"] + 1"},
			Values:  []diag.Value{{Expression: "each.key", Value: `"a\nb"`}, {Expression: "local.日本", Value: strings.Repeat("x", 1000)}},
		},
		{Severity: diag.Error, Code: "end", Summary: "block is not closed", Range: at("x.hcl", 9, 4, 9, 4), Snippet: []string{"abc"}},
		{Severity: diag.Error, Summary: "problem has no tests", Context: `problem "empty"`, Hint: "add test_checkpoint_1.py"},
		{Severity: diag.Error, Summary: "long block", Range: at("x.hcl", 998, 1, 1010, 2), Snippet: strings.Split("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm", "\n")},
		{Severity: diag.Error, Summary: "hostile \x1b[2J name", Detail: "\x1b]0;title\a", Range: at("a\x1b[31m.hcl", 1, 1, 1, 99), Snippet: []string{"a \x1b[31mred\r"}},
	}
}

func TestDiagnosticsGolden(t *testing.T) {
	for name, c := range map[string]struct {
		color bool
		width int
	}{"diagnostics.txt": {}, "diagnostics.narrow.txt": {width: 50}, "diagnostics.color.txt": {color: true, width: 80}} {
		var b bytes.Buffer
		Diagnostics(&b, findings(), c.color, c.width)
		golden(t, name, b.String())
		if !c.color && strings.ContainsFunc(b.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
			t.Errorf("%s: a control character", name)
		}
	}
	var b bytes.Buffer
	Diagnostics(&b, nil, true, 80)
	Diagnostics(&b, findings()[4:5], false, 80)
	golden(t, "diagnostics.one.txt", b.String())
}

// Ranges outside their snippet come from files that changed on disk in between, and must not cause a panic.
func FuzzSnippet(f *testing.F) {
	f.Add("a\tb 日本", 1, 1, 1, 3)
	f.Add("\x1b[31m\n\n🙂", 3, 9, 1, 1)
	f.Add("", -1, -1, 1<<40, 1<<40)
	f.Fuzz(func(t *testing.T, source string, line, column, endLine, endColumn int) {
		var b bytes.Buffer
		Diagnostics(&b, diag.List{{Summary: "s", Range: at("f", line, column, endLine, endColumn), Snippet: strings.Split(source, "\n")}}, false, 0)
		if strings.ContainsFunc(b.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
			t.Errorf("a control character: %q", b.String())
		}
	})
}
