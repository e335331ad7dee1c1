package lang

import (
	"fmt"
	"strings"
	"testing"
)

// The cursor is at |.
func TestCursor(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"|", `in "" word ""`},
		{"prob|", `in "" word "prob"`},
		{"problem \"a\" {\n  ti|", `in "problem[a]" word "ti"`},
		{"problem \"a\" {\n  |\n  title = \"x\"\n}\n", `in "problem[a]" word ""`},
		{"problem \"a\" {\n  pytest { ro|", `in "problem[a] pytest[]" word "ro"`},
		{"backend \"lo|", `in "" header backend[] text word "lo"`},
		{"backend \"local\" \"|", `in "" header backend[local] text word ""`},
		{"backend lo|", `in "" header backend[] word "lo"`},
		{"solution \"s\" {\n  problem = problem.ta|lly\n}", `in "solution[s]" value problem before "problem." word "ta"`},
		{"solution \"s\" {\n  problem = |\n}", `in "solution[s]" value problem word ""`},
		{"solution \"s\" {\n  problem = problem.|\n}", `in "solution[s]" value problem before "problem." word ""`},
		{"suite \"s\" {\n matrix {\n  backend = [backend.local.h|", `in "suite[s] matrix[]" value backend nested before "backend.local." word "h"`},
		{"solution \"s\" {\n  source = \"solutions/re|\n}", `in "solution[s]" value source text word "solutions/re"`},
		{"solution \"s\" {\n  source = \"a/${checkpoint.na|}/b\"\n}", `in "solution[s]" value source nested before "checkpoint." word "na"`},
		{"solution \"s\" {\n  source = \"a/${checkpoint.name}/b|\"\n}", `in "solution[s]" value source text word "/b"`},
		{"locals {\n  a = {\n    b = local.|\n", `in "locals[]" value a nested before "local." word ""`},
		{"locals {\n  a = problem.x[\"k\"].na|\n", `in "locals[]" value a before "problem.x[\"k\"]." word "na"`},
		{"locals {\n  a = upp|er(\"x\")\n", `in "locals[]" value a word "upp"`},
		{"# prob|lem\n", `in "" value # text word ""`},
		{"locals {\n  a = \"x\n  b|\n}", `in "locals[]" word "b"`},
		{"locals {\n  a = \"x\" # why\n  b|\n}", `in "locals[]" word "b"`},
		{"locals {\n  a = [ // why\n  local.b|\n}", `in "locals[]" value a nested before "local." word "b"`},
		{"locals {\n  a = 1 /* why */ + local.b|\n}", `in "locals[]" value a before "local." word "b"`},
		{"locals {\n  a = <<EOT\nline ${local.|}\nEOT\n}", `in "locals[]" value a nested before "local." word ""`},
		{"problem \"a\" { }\nsol|", `in "" word "sol"`},
		{"problem \"a\" {\n  dynamic \"checkpoint\" {\n    content {\n      t|", `in "problem[a] dynamic[checkpoint] content[]" word "t"`},
		{"}\n}\nsol|", `in "" word "sol"`},
	} {
		text, rest, _ := strings.Cut(c.text, "|")
		got := CursorAt([]byte(text+rest), len(text)).String()
		if got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// String is a cursor for tests.
func (c Cursor) String() string {
	var path []string
	for _, e := range c.Path {
		path = append(path, fmt.Sprintf("%s[%s]", e.Type, strings.Join(e.Labels, " ")))
	}
	s := fmt.Sprintf("in %q", strings.Join(path, " "))
	if c.Header != "" {
		s += fmt.Sprintf(" header %s[%s]", c.Header, strings.Join(c.Labels, " "))
	}
	if c.Attribute != "" {
		s += " value " + c.Attribute
	}
	if c.Nested {
		s += " nested"
	}
	if c.InText {
		s += " text"
	}
	if c.Before != "" {
		s += fmt.Sprintf(" before %q", c.Before)
	}
	return s + fmt.Sprintf(" word %q", c.Word)
}
