// Package docs_test keeps the documentation true. It has only tests:
//
//	hcl_test.go      every hcl block is a configuration without errors
//	console_test.go  every console block shows what its commands print
//	tables_test.go   tables of attributes and flags match the program
//	facts_test.go    lists of names are complete: functions, events, classes ...
//	links_test.go    every link has a target
//	llms_test.go     llms.txt lists the pages of the index
//	mistakes_test.go tests that the page of easy mistakes names exist
//
// CONTRIBUTING.md describes the conventions. `go test ./docs -update` rewrites the
// tables, llms.txt, and the output of console blocks that do not match.
package docs_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/compat"
	"github.com/fevalgraph/fevalgraph/internal/cli"
)

var update = flag.Bool("update", false, "rewrite tables and console output")

// programName is the name under which the test binary runs fevalgraph: console blocks run it in a separate
// process.
const programName = "fevalgraph"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		os.Exit(cli.Main(os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, Benchmarks: compat.Benchmarks(), Kinds: kinds.All()}))
	}
	os.Exit(m.Run())
}

// outside lists the pages that are not in docs but are tested like those.
var outside = []string{"../README.md", "../AGENTS.md", "../CONTRIBUTING.md", "../SECURITY.md", "../compat/README.md", "../compat/scbench/MISTAKES.md", "../bench/README.md"}

// page is one Markdown file.
type page struct {
	path  string // relative to docs, slash-separated
	lines []string
}

func (p *page) text() string { return strings.Join(p.lines, "\n") }

func pages(t *testing.T) []*page {
	t.Helper()
	var all []*page
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, &page{filepath.ToSlash(path), strings.Split(string(text), "\n")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range outside {
		text, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &page{path, strings.Split(string(text), "\n")})
	}
	return all
}

func readPage(t *testing.T, path string) *page {
	t.Helper()
	for _, p := range pages(t) {
		if p.path == path {
			return p
		}
	}
	t.Fatalf("page %s not found", path)
	return nil
}

func (p *page) save(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.FromSlash(p.path), []byte(p.text()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// block is a fenced block of a page.
type block struct {
	info       []string // words after the fence
	start, end int      // lines of the content: page.lines[start:end]
}

func (b *block) has(word string) bool {
	for _, w := range b.info {
		if w == word {
			return true
		}
	}
	return false
}

// option returns the value of the info word name=value.
func (b *block) option(name string) string {
	for _, w := range b.info {
		if value, ok := strings.CutPrefix(w, name+"="); ok {
			return value
		}
	}
	return ""
}

// blocks returns the fenced blocks in a language, or all if it is "".
func (p *page) blocks(t *testing.T, language string) []block {
	t.Helper()
	var found []block
	open := -1
	var info []string
	for i, line := range p.lines {
		rest, fence := strings.CutPrefix(line, "```")
		switch {
		case !fence:
		case open < 0:
			open, info = i, strings.Fields(rest)
		default:
			if len(info) > 0 && (language == "" || info[0] == language) {
				found = append(found, block{info[1:], open + 1, i})
			}
			open = -1
		}
	}
	if open >= 0 {
		t.Errorf("%s:%d: unterminated block", p.path, open+1)
	}
	return found
}

func (p *page) content(b block) string { return strings.Join(p.lines[b.start:b.end], "\n") + "\n" }
