package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Limits of GitHub in bytes: 65,536 characters for a comment, one mebibyte for the summary of a step.
const (
	CommentLimit = 60_000
	SummaryLimit = 1<<20 - 1024
)

// CommentMarker begins a comment's text, so that a later run finds and replaces the comment.
const CommentMarker = "<!-- fevalgraph results -->"

// writeGitHub writes Markdown for a comment or a step summary of at most o.Limit bytes: changes since o.Before,
// what did not pass, and all results. Text from elsewhere is inline code, so that it mentions no user and
// closes no issue.
func writeGitHub(w io.Writer, r *Results, o Options) error {
	limit := o.Limit
	if limit == 0 {
		limit = CommentLimit
	}
	p := page{left: limit - pageReserve}
	p.put(CommentMarker + "\n## fevalgraph: " + Summarize(r, nil).verdicts() + "\n")
	if o.Served != "" {
		p.put("\n" + o.Served + "\n")
	}
	if o.Before != nil {
		p.changes(Changes(o.Before, r))
	}
	p.failures(r.Current())
	p.results(r, o)
	_, err := io.WriteString(w, p.text.String())
	return err
}

// pageReserve is the room for notes about omitted content, in bytes.
const pageReserve = 512

// page is a text of limited length.
type page struct {
	text strings.Builder
	left int // bytes
}

// put adds a piece if it fits, and reports whether it did.
func (p *page) put(s string) bool {
	if len(s) > p.left {
		return false
	}
	p.left -= len(s)
	p.text.WriteString(s)
	return true
}

// list adds lines until the page is full, then the number of omitted ones.
func (p *page) list(lines []string) {
	for i, line := range lines {
		if !p.put(line) {
			fmt.Fprintf(&p.text, "\nand %d more\n", len(lines)-i)
			p.left = 0
			return
		}
	}
}

func (p *page) changes(changes []Change) {
	if len(changes) == 0 {
		p.put("\nNothing changed.\n")
		return
	}
	if !p.put(fmt.Sprintf("\n### Changed: %d\n\n| | checkpoint | before | now |\n| --- | --- | --- | --- |\n", len(changes))) {
		return
	}
	var lines []string
	for _, c := range changes {
		mark := map[ChangeKind]string{ChangeLost: "worse", ChangeBroken: "worse", ChangeWon: "better"}[c.Kind]
		mark = cmp.Or(mark, string(c.Kind))
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s |\n", mark, bar.Replace(code(c.Name)), code(c.Before), code(c.After)))
	}
	p.list(lines)
}

func (p *page) failures(r *Results) {
	var lines []string
	for _, row := range rowsOf(r.inOrder(false)) {
		if solved(row.checkpoint) {
			continue
		}
		line := fmt.Sprintf("- %s %s", word(row.checkpoint), code(rowName(row, true)))
		if said := saidBelow(row, tableNote); said != "" {
			line += ": " + code(text.Line(said, 300))
		}
		lines = append(lines, line+"\n")
	}
	for _, t := range r.undone() {
		line := fmt.Sprintf("- %s %s", t.Outcome, code(t.Address()))
		if said := t.note(); said != "" {
			line += ": " + code(text.Line(said, 300))
		}
		lines = append(lines, line+"\n")
	}
	if len(lines) > 0 && p.put(fmt.Sprintf("\n### Not passed: %d\n\n", len(lines))) {
		p.list(lines)
	}
}

// results adds all results as a table on a terminal shows them, or as many cells as fit.
func (p *page) results(r *Results, o Options) {
	var table bytes.Buffer
	if writeTable(&table, r, Options{Verbose: o.Verbose}) != nil {
		return
	}
	fence := strings.Repeat("`", 3+text.Backquotes(table.String()))
	head, tail := "\n<details><summary>All results</summary>\n\n"+fence+"text\n", fence+"\n\n</details>\n"
	if len(head)+len(tail)+pageReserve > p.left {
		return
	}
	p.left -= len(tail)
	p.put(head)
	for line := range strings.Lines(table.String()) {
		if !p.put(line) {
			p.text.WriteString("... `fevalgraph results` shows the rest\n")
			break
		}
	}
	p.text.WriteString(tail)
}

// bar escapes the characters that would end a table cell.
var bar = strings.NewReplacer("|", "\\|")

// code returns a text as inline code of Markdown.
func code(s string) string {
	if s == "" {
		return ""
	}
	s = text.Line(s, 0)
	fence := strings.Repeat("`", 1+text.Backquotes(s))
	if strings.Contains(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// maxAnnotations is the number of annotations of each kind that GitHub shows for a step.
const maxAnnotations = 10

// WriteAnnotations writes at most ten workflow commands: for changes to the worse since before, which may be
// nil, then for other failures.
func WriteAnnotations(w io.Writer, r, before *Results) error {
	said, names := map[string]string{}, []string{}
	for _, row := range rowsOf(r.Current().inOrder(false)) {
		if name := rowName(row, true); !solved(row.checkpoint) {
			said[name] = cmp.Or(firstSaid(row), string(outcomeOf(row.checkpoint)))
			names = append(names, name)
		}
	}
	for _, t := range r.undone() {
		said[t.Address()] = orName(t.note(), t.Outcome)
		names = append(names, t.Address())
	}
	if before != nil {
		var worse []string
		for _, c := range Changes(before, r) {
			if _, failed := said[c.Name]; failed && c.Worse() {
				worse = append(worse, c.Name)
			}
		}
		names = append(worse, names...)
	}
	n := 0
	for _, name := range names {
		message, left := said[name]
		if !left { // already annotated as a change
			continue
		}
		if n++; n > maxAnnotations {
			break
		}
		delete(said, name)
		if err := annotate(w, name, message); err != nil {
			return err
		}
	}
	return nil
}

// WriteChangeAnnotations writes at most ten workflow commands, for changes to the worse and flaky verdicts.
func WriteChangeAnnotations(w io.Writer, d *Difference) error {
	n := 0
	for i := range d.Changes {
		c := &d.Changes[i]
		if !c.Worse() && c.Kind != ChangeFlaky {
			continue
		}
		if n++; n > maxAnnotations {
			break
		}
		cause := d.causeText(c.Causes, false)
		if cause != "" {
			cause = " (" + cause + ")"
		}
		if err := annotate(w, c.Name, fmt.Sprintf("%s: %s%s", c.Kind, c.move(), cause)); err != nil {
			return err
		}
	}
	return nil
}

func annotate(w io.Writer, title, message string) error {
	_, err := fmt.Fprintf(w, "::error title=%s::%s\n", commandProperty.Replace(text.Line(title, 200)), commandValue.Replace(text.Line(message, 500)))
	return err
}

// Escapes for workflow commands, which are terminated by a line break and contain separators.
var (
	commandValue    = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// verdicts returns the counts as text: "4 passed, 2 failed".
func (s Summary) verdicts() string {
	words := s.String()
	if _, counts, ok := strings.Cut(words, ": "); ok {
		return counts
	}
	return words
}
