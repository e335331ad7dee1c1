package document

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const text = `version = "1.0"
artifacts = [
  "/a",
  { source = "/b", exclude = ["*.tmp"] },
]
[task]
name = "own/one"
a."b c".d = 0x1F
[[steps]]
name = "first"
[steps.verifier]
timeout_sec = 1_000
[[steps]]
name = "second"
verifier.env = { A = "1", "B" = "2" }
on = true
since = 2026-01-02
share = 1.5e3
`

func TestPlaces(t *testing.T) {
	root, wrong := parseTOML(text)
	if wrong != nil {
		t.Fatal(wrong.Detail)
	}
	steps := At(root, "steps").Content
	for _, c := range []struct {
		n     *yaml.Node
		value string
		line  int
	}{
		{At(root, "version"), "1.0", 1},
		{At(root, "artifacts").Content[0], "/a", 3},
		{At(root.Content[3].Content[1], "source"), "/b", 4},
		{At(root, "task", "name"), "own/one", 7},
		{At(root, "task", "a", "b c", "d"), "31", 8},
		{At(steps[0], "verifier", "timeout_sec"), "1000", 12},
		{At(steps[1], "name"), "second", 14},
		{At(steps[1], "verifier", "env", "B"), "2", 15},
		{At(steps[1], "on"), "true", 16},
		{At(steps[1], "share"), "1.5e3", 18},
	} {
		if c.n == nil || c.n.Value != c.value || c.n.Line != c.line {
			t.Errorf("%+v, want %s in line %d", c.n, c.value, c.line)
		}
	}
}

func TestBad(t *testing.T) {
	for text, line := range map[string]int{"a = 1\na = 2\n": 2, "a = \n": 1, "[a]\nb = 1\n[a]\n": 3, "x = 'unended\n": 1} {
		if _, wrong := parseTOML(text); wrong == nil || wrong.Range == nil || wrong.Range.Start.Line != line {
			t.Errorf("%q: %+v", text, wrong)
		}
	}
}

// Invalid TOML is an error, and never a panic.
func FuzzParse(f *testing.F) {
	f.Add(text)
	for _, seed := range []string{"a.b = 1\n[a]\nc = 2", "[[a]]\n[a.b]\n[[a]]", "a = [[1, 2], [{b = 3}]]", strings.Repeat("[", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if root, wrong := parseTOML(text); wrong == nil && root.Kind != yaml.MappingNode {
			t.Errorf("%q: %+v", text, root)
		}
	})
}
