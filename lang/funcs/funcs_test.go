package funcs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

func evaluate(t *testing.T, files Files, expression string) (string, error) {
	t.Helper()
	expr, problems := hclsyntax.ParseExpression([]byte(expression), "test", hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	v, problems := expr.Value(&hcl.EvalContext{Functions: Library(files)})
	if problems.HasErrors() {
		return "", problems
	}
	return string(hclwrite.TokensForValue(v).Bytes()), nil
}

func TestPure(t *testing.T) {
	tests := []struct{ expression, want string }{
		{`sum([1, 2, 0.5])`, `3.5`},
		{`sum([])`, `0`},
		{`alltrue([])`, `true`},
		{`alltrue([true, false])`, `false`},
		{`alltrue([true, null])`, `false`},
		{`anytrue([])`, `false`},
		{`anytrue([false, true])`, `true`},
		{`length("añ")`, `2`},
		{`length([1, 2])`, `2`},
		{`length({ a = 1 })`, `1`},
		{`length([])`, `0`},
		{`one([5])`, `5`},
		{`one([])`, `null`},
		{`one(toset(["x"]))`, `"x"`},
		{`startswith("abc", "ab")`, `true`},
		{`endswith("abc", "ab")`, `false`},
		{`strcontains("abc", "b")`, `true`},
		{`basename("a/b.py")`, `"b.py"`},
		{`dirname("a/b.py")`, `"a"`},
		{`urlencode("a b&c")`, `"a+b%26c"`},
		{`sha256("")`, `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`},
		{`base64decode(base64encode("ä"))`, `"ä"`},
		{`try(tonumber("x"), "no")`, `"no"`},
		{`can(tonumber("x"))`, `false`},
		{`yamldecode("a: [1, two]").a[1]`, `"two"`},
		{`jsondecode("{\"a\":1}").a`, `1`},
		{`csvdecode("a,b\n1,2\n")[0].b`, `"2"`},
		{`format("%s-%03d", "a", 7)`, `"a-007"`},
		{`regex("[0-9]+", "ab12")`, `"12"`},
		{`join(",", sort(keys({ b = 1, a = 2 })))`, `"a,b"`},
		{`tolist(["a"])[0]`, `"a"`},
		{`max(1, 3, 2)`, `3`},
	}
	for _, test := range tests {
		got, err := evaluate(t, Files{}, test.expression)
		if err != nil || got != test.want {
			t.Errorf("%s = %s, %v; want %s", test.expression, got, err, test.want)
		}
	}
}

// YAML as of version 1.1, where yes and on are true; not so its numbers in
// octal and to the base of 60, and its bare n is a boolean, too.
func TestYAML(t *testing.T) {
	for text, want := range map[string]string{
		"yes": "true", "No": "false", "on": "true", "off": "false", "~": "null", "": "null", "true": "true", "y": "true", "n": "false",
		`"no"`: `"no"`, "'1'": `"1"`, "0.5": "0.5", ".5": "0.5", "1.0": "1", "1e3": "1000", "0x1F": "31",
		"012": "12", "1:30": `"1:30"`, "1_000": `"1_000"`, "2020-01-01": `"2020-01-01T00:00:00Z"`,
	} {
		if got, err := evaluate(t, Files{}, fmt.Sprintf("yamldecode(%q).a", "a: "+text)); err != nil || got != want {
			t.Errorf("a: %s is %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestPureErrors(t *testing.T) {
	for _, expression := range []string{`sum([1, null])`, `length(5)`, `one([1, 2])`, `one("a")`, `base64decode("!")`, `base64decode("/w==")`} {
		if got, err := evaluate(t, Files{}, expression); err == nil {
			t.Errorf("%s = %s, want an error", expression, got)
		}
	}
}

// tree makes files under a new directory; a name ending in "/" is a directory.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFiles(t *testing.T) {
	dir := tree(t, "b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "dir.txt/")
	if err := os.Symlink("a.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "binary"), []byte{0xff}, 0o666); err != nil {
		t.Fatal(err)
	}
	makePipe(t, filepath.Join(dir, "pipe"))
	tests := []struct{ expression, want, err string }{
		{expression: `file("pipe")`, err: `"pipe" is not a regular file`},
		{expression: `fileset(".", "*.txt")`, want: `["a.txt", "b.txt", "link.txt"]`},
		{expression: `fileset("sub", "**/*.txt")`, want: `["c.txt", "deep/d.txt"]`},
		{expression: `fileset(".", "**/{c,d}.txt")`, want: `["sub/c.txt", "sub/deep/d.txt"]`},
		{expression: `fileset(".", "none*")`, want: `[]`},
		{expression: `fileset("gone", "*")`, err: `"gone" not found`},
		{expression: `fileset("a.txt", "*")`, err: `not a directory`},
		{expression: `fileset(".", "../*")`, err: `must stay below`},
		{expression: `fileset(".", "[")`, err: `not a valid pattern`},
		{expression: `dirs(".", "s*")`, want: `["sub"]`},
		{expression: `dirs(".", "**/{sub,deep}")`, want: `["sub", "sub/deep"]`},
		{expression: `dirs("sub", "de*")`, want: `["deep"]`},
		{expression: `dirs(".", "a.txt")`, want: `[]`},
		{expression: `dirs("gone", "*")`, err: `"gone" not found`},
		{expression: `dirs(".", "../*")`, err: `must stay below`},
		{expression: `file("sub/c.txt")`, want: `"sub/c.txt"`},
		{expression: `file("gone")`, err: `"gone" not found`},
		{expression: `file("binary")`, err: `not UTF-8`},
		{expression: `file("sub")`, err: `directory`},
		{expression: `fileexists("a.txt")`, want: `true`},
		{expression: `fileexists("sub")`, want: `false`},
		{expression: `fileexists("gone")`, want: `false`},
		{expression: `fileexists("a.txt/b")`, want: `false`},
	}
	for _, test := range tests {
		got, err := evaluate(t, Files{Dir: dir}, test.expression)
		if (test.err == "") != (err == nil) || got != test.want || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s = %s, %v; want %s, %s", test.expression, got, err, test.want, test.err)
		}
	}
}

func TestFilesReportReads(t *testing.T) {
	dir := tree(t, "a.txt")
	var reads []string
	files := Files{Dir: dir, Read: func(kind, name string) { reads = append(reads, kind+" "+name) }}
	if _, err := evaluate(t, files, `[file("a.txt"), fileexists("b"), fileset(".", "*"), dirs(".", "s*")]`); err != nil {
		t.Fatal(err)
	}
	want := []string{"file " + dir + "/a.txt", "exists " + dir + "/b", "fileset " + dir + "\x00*", "fileset " + dir + "\x00s*"}
	if !slices.Equal(reads, want) {
		t.Errorf("got %q, want %q", reads, want)
	}
}

func TestGlobRefusesNames(t *testing.T) {
	tests := []struct{ name, pattern, want string }{
		{"a\xff.txt", "*", "not UTF-8"},
		{"d\xff/x.txt", "**/*.txt", "not UTF-8"},
	}
	for _, test := range tests {
		names, err := Glob(tree(t, test.name), ".", test.pattern)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %q, %v", test.name, names, err)
		}
	}
	if got, err := evaluate(t, Files{Dir: tree(t, "e\u0301.txt")}, `fileset(".", "*")`); err == nil {
		t.Errorf("a name that the language cannot spell: got %s", got)
	}
	dir := tree(t)
	if err := os.Symlink("gone", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	want := `"dangling" in "written" is a link to "gone", which does not exist`
	if names, err := Glob(dir, "written", "*"); err == nil || err.Error() != want {
		t.Errorf("a dangling link: got %q, %v, want %s", names, err, want)
	}
}

// A pattern matches hidden files and directories only where it has the dot, as in shells: editors and systems
// leave such files, also dangling links, next to others.
func TestHiddenFiles(t *testing.T) {
	dir := tree(t, "a.txt", "._a.txt", ".env", "sub/b.txt", "sub/._b.txt", ".git/c.txt", "sub/.cache/d.txt")
	if err := os.Symlink("me@host.1234", filepath.Join(dir, ".#a.txt")); err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		`fileset(".", "*.txt")`:         `["a.txt"]`,
		`fileset(".", "*")`:             `["a.txt"]`,
		`fileset(".", "?_a.txt")`:       `[]`,
		`fileset(".", "{*,sub/*}.txt")`: `["a.txt", "sub/b.txt"]`,
		`fileset(".", "**")`:            `["a.txt", "sub/b.txt"]`,
		`fileset(".", "**/*.txt")`:      `["a.txt", "sub/b.txt"]`,
		`fileset(".", ".e*")`:           `[".env"]`,
		`fileset(".", "._*")`:           `["._a.txt"]`,
		`fileset(".", "**/._*")`:        `["._a.txt", "sub/._b.txt"]`,
		`fileset(".", ".git/*")`:        `[".git/c.txt"]`,
		`fileset(".", "*/.cache/*")`:    `["sub/.cache/d.txt"]`,
		`fileset("sub/.cache", "*")`:    `["d.txt"]`,
		`dirs(".", "*")`:                `["sub"]`,
		`dirs(".", "**/.*")`:            `[".git", "sub/.cache"]`,
	} {
		if got, err := evaluate(t, Files{Dir: dir}, expression); err != nil || got != want {
			t.Errorf("%s = %s, %v; want %s", expression, got, err, want)
		}
	}
}

func TestFileFunctionsAreNotPure(t *testing.T) {
	pure, all := Pure(), Library(Files{})
	for _, name := range FileFunctions() {
		if _, ok := pure[name]; ok {
			t.Errorf("%s is among the pure functions", name)
		}
	}
	if len(all) != len(pure)+len(FileFunctions()) {
		t.Errorf("%d functions, %d pure, %d that read files", len(all), len(pure), len(FileFunctions()))
	}
}
