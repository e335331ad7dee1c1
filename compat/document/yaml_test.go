package document

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func parse(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

func TestAt(t *testing.T) {
	root := parse(t, `
base: &base {name: shared}
copy: *base
deep: {a: {b: {c: 1}}}
again: first
empty:
`)
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"base", "name"}, "shared"},
		{[]string{"copy", "name"}, "shared"},
		{[]string{"deep", "a", "b", "c"}, "1"},
		{[]string{"deep", "a", "c"}, "none"},
		{[]string{"deep", "a", "b", "c", "d"}, "none"}, // below a scalar
		{[]string{"missing"}, "none"},
		{[]string{"empty"}, "none"},
		{[]string{"deep"}, "none"}, // no scalar
	} {
		if got := Scalar(At(root, c.path...), "none"); got != c.want {
			t.Errorf("%q: %q, want %q", c.path, got, c.want)
		}
	}
	list := At(parse(t, "one: &one {name: shared}\nlist: [*one]"), "list")
	if got := Scalar(At(list.Content[0], "name"), "none"); got != "shared" {
		t.Errorf("an alias in a list: %q", got)
	}
	if At(nil, "a") != nil {
		t.Error("a file that was not read has a value")
	}
}

// Texts in YAML 1.1, and their values in Python's reader.
func TestPythonic(t *testing.T) {
	root := parse(t, `
octal: 010
below: -017
text: "010"
decimal: 089
spaced: 1_000
yes: yes
word: "yes"
off: OFF
base: &base {x: 1, y: 2}
merged: {<<: *base, y: 3}
several: {w: 1, <<: [*base, {x: 9, z: 0}]}
again: {<<: {<<: *base, z: 5}}
`)
	pythonic(root, map[*yaml.Node]bool{})
	for path, want := range map[string]string{
		"octal": "8", "below": "-15", "text": "010", "spaced": "1000", "word": "yes", "off": "false",
		"base y": "2", "merged x": "1", "merged y": "3", "several x": "1", "several z": "0", "several w": "1", "again x": "1", "again z": "5",
	} {
		if got := Scalar(At(root, strings.Fields(path)...), "none"); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if keys := Keys(At(root, "merged")); !slices.Equal(keys, []string{"x", "y"}) {
		t.Errorf("keys of a merge: %q", keys)
	}
	if n := At(root, "off"); n.Tag != "!!bool" {
		t.Errorf("off is a %s", n.Tag)
	}
}

// TestLastKeyCounts builds the mapping itself, since the decoder can reject duplicate keys.
func TestLastKeyCounts(t *testing.T) {
	text := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: Text, Value: s} }
	n := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("a"), text("1"), text("b"), text("2"), text("a"), text("3")}}
	if got := Scalar(At(n, "a"), ""); got != "3" {
		t.Errorf("a is %q, want the last value", got)
	}
	if got, want := Keys(n), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("Keys: %q, want %q", got, want)
	}
}

func TestTexts(t *testing.T) {
	root := parse(t, `
word: &word make
list: [*word, all, 1, null, "", {a: b}]
words: &words [make, test]
same: *words
none: []
`)
	for _, c := range []struct {
		key  string
		want []string
		ok   bool
	}{
		{"list", []string{"make", "all", "1", "", "", ""}, true},
		{"same", []string{"make", "test"}, true},
		{"none", nil, true},
		{"word", nil, false},
		{"missing", nil, false},
	} {
		got, ok := Texts(At(root, c.key))
		if ok != c.ok || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q, %v", c.key, got, ok, c.want, c.ok)
		}
	}
}

func TestKeysOfNoMapping(t *testing.T) {
	root := parse(t, "list: [a, b]")
	for _, n := range []*yaml.Node{nil, At(root, "list")} {
		if got := Keys(n); got != nil {
			t.Errorf("%q", got)
		}
	}
}
