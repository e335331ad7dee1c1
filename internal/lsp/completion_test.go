package lsp

import (
	"slices"
	"strings"
	"testing"
)

// The text typed instead of a line, with | at the cursor, and some expected proposals.
func TestCompletion(t *testing.T) {
	c, uri := openProject(t, kvstoreFiles())
	c.diagnostics(uri) // of the whole text, whose values are offered in broken ones
	whole := Range{End: Position{Line: 1 << 20}}
	for _, test := range []struct {
		line, typed string
		want, not   []string
	}{
		{"pool \"slow\" { slots = 2 }", "|", []string{"problem", "backend", "suite"}, []string{"title"}},
		{"  entry    = \"python main.py\"", "  |", []string{"title", "entry", "checkpoint", "judge", "dynamic"}, []string{"timeout", "for_each", "pytest", "suite"}},
		{"  timeout  = local.wanted", "  timeout = local.|", []string{"sizes", "wanted"}, nil},
		{"  timeout  = local.wanted", "  timeout = local.sizes.|", []string{"small", "large"}, nil},
		{"  timeout  = local.wanted", "  timeout = |", []string{"local", "var", "each", "format", "path"}, []string{"self"}},
		{"  for_each = problem.kv", "  for_each = problem.|", []string{"kv"}, nil},
		{"  problem  = each.value", "  problem = |", []string{"problem.kv"}, nil},
		{"  problem  = each.value", "  problem = each.|", []string{"key", "value"}, nil},
		{"  source   = \"solutions/${each.key}\"", "  source = \"sol|\"", []string{"solutions/"}, nil},
		{"  source   = \"solutions/${each.key}\"", "  source = \"solutions/|", []string{"small/", "large/"}, nil},
		{"  source   = \"solutions/${each.key}\"", "  source = \"x/${checkpoint.|}\"", []string{"name", "order", "version"}, nil},
		{"  source   = \"solutions/${each.key}\"", "  missing = |", []string{"error", "skip", "omit"}, nil},
		{"  source   = \"solutions/${each.key}\"", "  missing = \"|\"", []string{"error", "skip", "omit"}, []string{"var"}},
		{"backend \"local\" \"host\" {", "backend \"|\" \"host\" {", []string{"local", "docker", "gojudge"}, nil},
		{"  pool = pool.slow", "  pool = pool.|", []string{"slow", "cpu"}, nil},
		{"  repeat = 2", "  |", []string{"exclude", "retry", "description"}, []string{"matrix "}},
		{"  matrix { solution = [solution.agent[\"small\"]] }", "  matrix { solution = [solution.|] }", []string{"agent"}, nil},
		{"  matrix { solution = [solution.agent[\"small\"]] }", "  matrix { backend = [backend.|] }", []string{"local"}, nil},
		{"  matrix { solution = [solution.agent[\"small\"]] }", "  matrix { backend = [backend.local.|] }", []string{"host"}, nil},
		{"  sensitive = true", "  sensitive = |", []string{"true", "false"}, nil},
		{"# A store", "# var.|", nil, []string{"limit"}},
	} {
		line, _, _ := strings.Cut(test.typed, "|")
		text := strings.Replace(kvstore, test.line, strings.Replace(test.typed, "|", "", 1), 1)
		c.edit(uri, whole, text)
		p := findPosition(t, kvstore, test.line, 0)
		p.Character += len(line)
		var items []completionItem
		c.call("textDocument/completion", c.at(uri, p), &items)
		var labels []string
		for _, i := range items {
			labels = append(labels, i.Label)
			if i.TextEdit.Range.Start.Line != p.Line || i.TextEdit.Range.End != p {
				t.Fatalf("%q: %s replaces %+v at %+v", test.typed, i.Label, i.TextEdit.Range, p)
			}
		}
		for _, want := range test.want {
			if !slices.Contains(labels, want) {
				t.Errorf("%q is not offered for %q: %v", want, test.typed, labels)
			}
		}
		for _, not := range test.not {
			if slices.Contains(labels, not) {
				t.Errorf("%q is offered for %q", not, test.typed)
			}
		}
	}
}
