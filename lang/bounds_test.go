package lang

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// Configurations that would fill the memory or the stack, or never end, are errors with a location.
func TestBounds(t *testing.T) {
	many := func(text string, n int) string { return strings.Repeat(text, n) }
	doubled := func(first, next string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "locals {\n  v0 = %s\n", first)
		for i := range 40 {
			fmt.Fprintf(&b, "  v%d = %s\n", i+1, strings.ReplaceAll(next, "v", fmt.Sprint("local.v", i)))
		}
		return b.String() + "}\n"
	}
	parentheses := longtest.Size(20_000, 200_000)
	for _, try := range []struct{ name, text, code, want string }{
		{"parentheses", "locals {\n  a = " + many("(", parentheses) + "1" + many(")", parentheses) + "\n}", "syntax", "Nested too deeply"},
		{"unclosed", "locals {\n  a = " + many("(", 20_000), "syntax", "Nested too deeply"},
		{"lists", "locals {\n  a = " + many("[", 20_000), "syntax", "Nested too deeply"},
		{"objects", "locals {\n  a = " + many("{a=", 20_000), "syntax", "Nested too deeply"},
		{"blocks", many("a {\n", 20_000), "syntax", "Nested too deeply"},
		{"templates", "locals {\n  a = " + many(`"${`, 20_000), "syntax", "Nested too deeply"},
		{"not", "locals {\n  a = " + many("!", 20_000) + "true\n}", "syntax", "Expression too long"},
		{"minus", "locals {\n  a = " + many("-", 20_000) + "1\n}", "syntax", "Expression too long"},
		{"sum", "locals {\n  a = 1" + many("+1", 20_000) + "\n}", "syntax", "Expression too long"},
		{"conditions", "locals {\n  a = " + many("true?1:", 20_000) + "1\n}", "syntax", "Expression too long"},
		{"indexes", "locals {\n  a = local.b" + many("[1-1]", 20_000) + "\n}", "syntax", "Expression too long"},
		{"exponent", `problem "p" { title = 1e4000000 }`, "syntax", "Number out of range"},
		{"small exponent", `problem "p" { title = 1e-4000000 }`, "syntax", "Number out of range"},
		{"exponent beyond integers", `problem "p" { title = 1e99999999999999999999 }`, "syntax", "Number out of range"},
		{"digits", `problem "p" { title = ` + many("9", 100_000) + ` }`, "syntax", "Number out of range"},
		{"number of a text", `problem "p" { title = tonumber("1e4000000") }`, "", "out of range"},
		{"number of JSON", `problem "p" { title = jsondecode("1e4000000") }`, "", "out of range"},
		{"squares", doubled("1e999", "v * v"), "too-large", "out of range"},
		{"doubled text", doubled(`"0123456789"`, `"${v}${v}"`), "too-large", "larger than 32 MiB"},
		{"doubled list", doubled(`[1]`, `concat(v, v)`), "too-large", "larger than 32 MiB"},
		{"shared list", doubled(`[1]`, `[v, v]`), "too-large", "larger than 32 MiB"},
		{"product", "locals {\n  a = range(1000)\n  b = setproduct(local.a, local.a, local.a)\n}", "", "more than 1000000 elements"},
		{"indent", "locals {\n  a = indent(1000000000, \"a\\nb\")\n}", "", "between 0 and 10000"},
		{"width", "locals {\n  a = format(\"%1000000000d\", 1)\n}", "", "width above 10000"},
		{"nested loops", "locals {\n  a = range(1000)\n  b = [for x in local.a : [for y in local.a : [for z in local.a : [for w in local.a : w]]]]\n}", "too-large", "more than 5000000 parts of expressions"},
		{"wide loops", "locals {\n  a = range(1000)\n  b = [for x in local.a : [for y in local.a : [" + many("x,", 10_000) + "]]]\n}", "too-large", "more than 5000000 parts of expressions"},
		{"loops that errors do not end", "locals {\n  a = range(1000)\n  b = try([for x in local.a : [for y in local.a : [for z in local.a : [for w in local.a : w]]]], 1)\n}", "", "more than 5000000 parts of expressions"},
		{"loops of a template", "locals {\n  a = range(1000)\n  b = \"%{for x in local.a}%{for y in local.a}%{for z in local.a}${z}%{endfor}%{endfor}%{endfor}\"\n}", "too-large", "more than 5000000 parts of expressions"},
		{"nested attempts", "locals {\n  a = " + many("try(", 40) + "local.b.c" + many(", local.b.c)", 40) + "\n  b = {}\n}", "", "no expression succeeded"},
		{"long template", "locals {\n  a = join(\"\", [for x in range(1000) : \"" + many("0", 10_000) + "\"])\n  b = \"" + many("${local.a}", 2_000) + "\"\n}", "too-large", "more than 128 MiB of text"},
		{"texts of a loop", "locals {\n  a = join(\"\", [for x in range(1000) : \"" + many("0", 10_000) + "\"])\n  b = [for x in range(1000) : upper(local.a)]\n}", "", "more than 128 MiB of text"},
		{"number in a template", `locals { a = "${"1e400000000" * 1}" }`, "too-large", "out of range"},
		{"square in a template", `locals { a = "${1e999 * 1e999}" }`, "too-large", "out of range"},
		{"remainder of a text", `locals { a = "1e400000000" % 3 }`, "too-large", "out of range"},
		{"negative text", `locals { a = "${-"1e400000000"}" }`, "too-large", "out of range"},
		{"number in a condition", `locals { a = [for x in ["1e400000000"] : true ? x * 1 : "a"] }`, "too-large", "out of range"},
		{"number as a key", `locals { a = { for x in ["1e400000000"] : x * 1 => 1 } }`, "too-large", "out of range"},
		{"number of a function", `locals { a = "${abs("1e400000000")}" }`, "", "out of range"},
		{"number for a function", `locals { a = upper(abs("1e400000000")) }`, "", "out of range"},
		{"number in a format", `locals { a = format("%d", "1e400000000") }`, "", "out of range"},
		{"cases", `
problem "p" {
  judge {
    testdata = task.t.outputs.d
    subtask { n_cases = 1000000000 }
  }
}
task "t" {
  run = "mkdir d"
  output "d" { path = "d" }
}`, "out-of-range", "at most 100000 cases"},
	} {
		t.Run(try.name, func(t *testing.T) {
			switch try.name {
			case "doubled list", "nested loops", "loops that errors do not end", "loops of a template", "texts of a loop", "long template":
				longtest.Skip(t)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, MainFile), []byte(try.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, found := Load(Options{Inputs: Inputs{Dir: dir}})
			if len(found) == 0 {
				t.Fatal("no finding")
			}
			at := -1
			for i, d := range found {
				if strings.Contains(d.Summary+" "+d.Detail, try.want) {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("none of %d findings is about %q; the first: %s: %s", len(found), try.want, found[0].Summary, found[0].Detail)
			}
			if d := found[at]; d.Range == nil || d.Range.File != MainFile || try.code != "" && d.Code != try.code {
				t.Errorf("%+v", d)
			}
			if try.code != "syntax" {
				return // an evaluation is the same in an editor
			}
			// An editor analyzes the same text, and a formatter reads it.
			if _, err := Analyze(context.Background(), Options{Inputs: Inputs{Dir: dir}}); err != nil {
				t.Error(err)
			}
			Format(MainFile, []byte(try.text))
		})
	}
}

// So is a value from outside.
func TestBoundsOutside(t *testing.T) {
	dir := t.TempDir()
	text := "variable \"n\" { type = number }\nvariable \"l\" {\n  type = list(any)\n  default = []\n}\n"
	if err := os.WriteFile(filepath.Join(dir, MainFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"n=1e400000000": "out of range", "n=1e-400000000": "out of range", "l=" + strings.Repeat("[", 100_000): "brackets are open"} {
		_, found := Load(Options{Inputs: Inputs{Dir: dir, Vars: []string{"n=1", value}}})
		if len(found) == 0 || !strings.Contains(found[0].Detail, want) {
			t.Errorf("%.20s: %v", value, found)
		}
	}
}

// Configurations within the bounds load.
func TestWithinBounds(t *testing.T) {
	dir := t.TempDir()
	text := "locals {\n  a = " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300) + "\n  b = [\n" +
		strings.Repeat("    { name = \"x${1 + 1}\", n = 1e300, l = [[1], [-2]] },\n", longtest.Size(2_000, 20_000)) + "  ]\n  c = 1" + strings.Repeat(" + 1", 4_000) + "\n}\n"
	if err := os.WriteFile(filepath.Join(dir, MainFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, found := Load(Options{Inputs: Inputs{Dir: dir}})
	for _, d := range found {
		if d.Code == "syntax" || d.Code == "too-large" {
			t.Errorf("%s: %s", d.Summary, d.Detail)
		}
	}
}

// A caller that cancels gets an answer during any evaluation.
func TestLoadEnds(t *testing.T) {
	dir := t.TempDir()
	text := "locals {\n  a = range(200)\n  b = length([for x in local.a : length([for y in local.a : length([for z in local.a : length(local.a)])])])\n}\n"
	if err := os.WriteFile(filepath.Join(dir, MainFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	began := time.Now()
	time.AfterFunc(10*time.Millisecond, func() { close(done) })
	_, found := Load(Options{Inputs: Inputs{Dir: dir}, Done: done})
	if len(found) != 1 || found[0].Code != "interrupted" {
		t.Errorf("after %v: %v", time.Since(began), found)
	}
}
