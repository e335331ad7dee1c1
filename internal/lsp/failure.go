package lsp

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

const (
	shownFailures = 500 // of a project
	shownMessage  = 300 // columns of a test's message
)

// publishFailures sends the tests that failed last as diagnostics on the lines of tests. It sends none for a
// configuration with errors, which publish reports.
func (p *project) publishFailures(ctx context.Context, now *snapshot) {
	all, _ := p.lastVerdicts(ctx, true)
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	problems := map[string]*lang.Problem{}
	for _, problem := range p.analysis(now).Config().Problems {
		problems[problem.Name] = problem
	}
	found, shown := map[string][]diagnostic{}, 0
	for i := range all {
		one, problem := &all[i], problems[all[i].Cell.Problem]
		if one.Last == nil || problem == nil || problem.Pytest == nil || problem.Pytest.Root == "" {
			continue
		}
		for j := range one.Last.Tests {
			t := &one.Last.Tests[j]
			if t.Status != verdict.TestFailed && t.Status != verdict.TestError || shown == shownFailures {
				continue
			}
			d := now.file(testFile(problem.Pytest, t.File))
			if len(d.text) == 0 {
				continue
			}
			found[d.uri] = append(found[d.uri], d.failure(one, t))
			shown++
		}
	}
	for uri := range p.failures {
		if _, still := found[uri]; !still {
			found[uri] = []diagnostic{}
		}
	}
	clear(p.failures)
	for _, uri := range slices.Sorted(maps.Keys(found)) {
		if len(found[uri]) > 0 {
			p.failures[uri] = true
		}
		p.s.publish(publishDiagnostics{URI: uri, Diagnostics: found[uri]})
	}
}

// testFile returns the path in the project of a test file in results.
func testFile(of *lang.Pytest, name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	name = strings.TrimPrefix(name, of.Directory+"/")
	return filepath.Join(of.Root, filepath.FromSlash(name))
}

// failure returns a diagnostic for a failed test, on its line.
func (d *document) failure(one *eval.CheckpointStatus, t *report.Test) diagnostic {
	start, end := definitionOf(d.text, t.ID)
	said := fmt.Sprintf("%s %s for %s", text.Line(t.ID, 200), t.Status, text.Line(one.Cell.String(), 200))
	if why := t.Said(); why != "" {
		said += ": " + text.Line(why, shownMessage)
	}
	if one.State != eval.Fresh {
		said += fmt.Sprintf(" (%s: %s)", one.State, text.Line(one.Cause, 200))
	}
	return diagnostic{Range: d.between(start, end), Severity: severityWarning, Code: "failed-test", Source: source, Message: said}
}

// definitionOf finds the function of a test of pytest in a text of Python by its ID, such as
// TestClass::test_name[case]; or returns the text's first line.
func definitionOf(python []byte, id string) (start, end int) {
	id, _, _ = strings.Cut(id, "[")
	parts := strings.Split(id, "::")
	for i, name := range parts {
		keyword := "class "
		if i == len(parts)-1 {
			keyword = "def "
		}
		at := statement(python[end:], keyword+name)
		if name == "" || at < 0 {
			return 0, max(bytes.IndexByte(python, '\n'), 0)
		}
		start = end + at + len(keyword)
		end = start + len(name)
	}
	return start, end
}

// statement returns the byte where a line of Python begins with some words, after indentation and async, or
// -1.
func statement(python []byte, words string) int {
	at := 0
	for line := range bytes.Lines(python) {
		trimmed := bytes.TrimPrefix(bytes.TrimLeft(line, " \t"), []byte("async "))
		if rest, ok := bytes.CutPrefix(trimmed, []byte(words)); ok && len(rest) > 0 && strings.IndexByte("( [:", rest[0]) >= 0 {
			return at + len(line) - len(trimmed)
		}
		at += len(line)
	}
	return -1
}
