package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// indexRow is a row of the index: links to pages, and their content.
var indexRow = regexp.MustCompile(`^\| (.*\]\(.*) \| (.*) \|$`)

// llms.txt lists the pages of the index, with its headings, in the form that llmstxt.org describes.
func TestLLMs(t *testing.T) {
	var b strings.Builder
	b.WriteString("# fevalgraph\n\n> A make for code benchmarks: problems, solutions and backends are described in HCL, and only verdicts whose inputs changed are judged again.\n")
	for _, line := range readPage(t, "README.md").lines {
		if heading, ok := strings.CutPrefix(line, "## "); ok && heading != "Words" {
			b.WriteString("\n## " + heading + "\n\n")
		}
		row := indexRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		for _, m := range namedLink.FindAllStringSubmatch(row[1], -1) {
			b.WriteString("- " + m[0] + ": " + row[2] + "\n")
		}
	}
	b.WriteString("\n## Every block and command\n\n")
	for _, p := range pages(t) {
		if name, ok := strings.CutPrefix(p.path, "language/"); ok && name != "README.md" {
			b.WriteString("- [Block " + strings.TrimSuffix(name, ".md") + "](" + p.path + ")\n")
		} else if name, ok := strings.CutPrefix(p.path, "commands/"); ok && name != "README.md" {
			b.WriteString("- [fevalgraph " + strings.TrimSuffix(name, ".md") + "](" + p.path + ")\n")
		}
	}
	have, err := os.ReadFile("llms.txt")
	if err == nil && string(have) == b.String() {
		return
	}
	if !*update {
		t.Fatalf("llms.txt does not match the index (%v); `go test ./docs -update` rewrites it", err)
	}
	if err := os.WriteFile("llms.txt", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

var namedLink = regexp.MustCompile(`\[[^]]+\]\([^)]+\)`)
