package page

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Trees identifies the trees that a checkpoint was judged on. "" means unknown.
type Trees struct {
	Submission string
	Tests      string
}

// Tree holds the files of a directory as text. The page reads its JSON.
type Tree struct {
	Files []File `json:"files"`          // sorted by path
	More  int    `json:"more,omitempty"` // number of omitted files
}

// File is a file of a tree.
type File struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"`
	Note string `json:"note,omitempty"` // why the text is missing
}

// MostSources limits the text of submissions in a page, in bytes. It compresses to less than half of what fits
// into one file.
const MostSources = 12 << 20

// Indices of trees that a page lacks.
const (
	treeUnknown = -1
	treeNoRoom  = -2
)

// sendTrees sends the submissions of cells until the limit is reached, failed cells first. It returns their
// chunks, and the index of each.
func (p *Page) sendTrees(cells []*report.Cell, send func(any) (string, error)) ([]chunk, map[string]int, error) {
	places, chunks := map[string]int{}, []chunk{}
	if p.Sources == nil {
		return chunks, places, nil
	}
	ordered := slices.Clone(cells)
	slices.SortStableFunc(ordered, func(a, b *report.Cell) int { return rankOf(a) - rankOf(b) })
	var held []json.RawMessage
	size, sum, sent := 0, 0, 0
	flush := func() error {
		if len(held) == 0 {
			return nil
		}
		id, err := send(held)
		chunks = append(chunks, chunk{ID: id, First: sent})
		held, size, sent = nil, 0, sent+len(held)
		return err
	}
	for _, cell := range ordered {
		for _, source := range p.Sources(cell) {
			id := source.Submission
			if _, known := places[id]; known || id == "" {
				continue
			}
			if places[id] = treeNoRoom; sum >= MostSources {
				continue
			}
			tree, err := p.Tree(id)
			if err != nil {
				return nil, nil, err
			}
			if tree == nil {
				places[id] = treeUnknown
				continue
			}
			content, err := json.Marshal(tree)
			if err != nil {
				return nil, nil, fmt.Errorf("encoding a report: %w", err)
			}
			if sum += len(content); sum > MostSources {
				continue
			}
			places[id] = sent + len(held)
			if held, size = append(held, content), size+len(content); size >= chunkBytes {
				if err := flush(); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return chunks, places, flush()
}

// addSources adds the sources of a cell to its details: the indices of its submissions, and excerpts for
// checkpoints whose submission is in the page.
func (p *Page) addSources(d *details, cell *report.Cell, places map[string]int) error {
	if p.Sources == nil {
		return nil
	}
	for i, source := range p.Sources(cell) {
		at, known := places[source.Submission]
		if !known {
			at = treeUnknown
		}
		d.Trees = append(d.Trees, at)
		if at < 0 {
			continue
		}
		all, of, err := p.excerpts(&cell.Checkpoints[i], source)
		if err != nil {
			return err
		}
		for test, numbers := range of {
			for k := range numbers {
				of[test][k] += len(d.Excerpts)
			}
		}
		if d.Excerpts = append(d.Excerpts, all...); len(of) > 0 {
			if d.Shown == nil {
				d.Shown = map[int]map[int][]int{}
			}
			d.Shown[i] = of
		}
	}
	if !slices.ContainsFunc(d.Trees, func(at int) bool { return at != treeUnknown }) {
		d.Trees = nil
	}
	return nil
}

// rankOf returns 0 for a cell that did not pass, else 1.
func rankOf(c *report.Cell) int {
	if slices.ContainsFunc(c.Checkpoints, func(c report.Checkpoint) bool { return !c.Passed }) {
		return 0
	}
	return 1
}

// excerpt is a line that a test's message names, with the lines around it.
type excerpt struct {
	Path  string   `json:"path"`            // path in the workspace
	Tests bool     `json:"tests,omitempty"` // a file of the tests; otherwise of the submission
	At    int      `json:"at"`              // number of the named line
	First int      `json:"first"`           // number of the first line in Lines
	Lines []string `json:"lines"`
}

const (
	excerptAround  = 5   // lines before and after the named line
	excerptColumns = 400 // of a line
	mostExcerpts   = 100 // tests with excerpts in a checkpoint
	mostMentions   = 400 // considered line references in a message, from its end
	mostOfTests    = 1   // excerpts for a test from the tests
	mostOfAnswer   = 2   // excerpts for a test from the submission
)

// mention matches references to a line of a file, as interpreters, compilers and test runners print them.
var mention = regexp.MustCompile(`File "([^"\n]+)", line (\d+)|([^\s"'(),:]+):(\d+)\b`)

// excerpts returns the excerpts for the failed tests of a checkpoint, and for each test, by index, the indices
// of its excerpts.
func (p *Page) excerpts(c *report.Checkpoint, source Trees) (all []excerpt, of map[int][]int, err error) {
	var answer, tests *Tree
	of = map[int][]int{}
	for i := range c.Tests {
		t := &c.Tests[i]
		if t.Status == verdict.TestPassed || t.Message == nil || len(of) == mostExcerpts {
			continue
		}
		if answer == nil {
			if answer, err = p.treeOf(source.Submission); err == nil {
				tests, err = p.treeOf(source.Tests)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		for _, e := range excerptsOf(*t.Message, t.File, answer, tests) {
			at := slices.IndexFunc(all, func(o excerpt) bool { return o.Path == e.Path && o.At == e.At && o.Tests == e.Tests })
			if at < 0 {
				at = len(all)
				all = append(all, e)
			}
			of[i] = append(of[i], at)
		}
	}
	return all, of, nil
}

// treeOf reads a tree. It returns an empty tree if the tree is unknown or gone.
func (p *Page) treeOf(id string) (*Tree, error) {
	if id == "" {
		return &Tree{}, nil
	}
	tree, err := p.Tree(id)
	if tree == nil && err == nil {
		tree = &Tree{}
	}
	return tree, err
}

// excerptsOf returns the last lines that the message of a test in file refers to: first of the tests, then of
// the submission.
func excerptsOf(message, file string, answer, tests *Tree) []excerpt {
	prefix := "" // directory of the tests in the workspace
	if at := longest(file, "", tests); at >= 0 {
		prefix = strings.TrimSuffix(strings.ReplaceAll(file, `\`, "/"), tests.Files[at].Path)
	}
	var all []excerpt
	left := map[bool]int{true: mostOfTests, false: mostOfAnswer}
	found := mention.FindAllStringSubmatch(cut(message, keptMessage), -1)
	for _, m := range slices.Backward(found[max(len(found)-mostMentions, 0):]) {
		name, line := m[1]+m[3], m[2]+m[4]
		tree, isTests, before := answer, false, ""
		at, inTests := longest(name, "", answer), longest(name, prefix, tests)
		if inTests >= 0 && (at < 0 || len(prefix+tests.Files[inTests].Path) > len(answer.Files[at].Path)) {
			tree, isTests, before, at = tests, true, prefix, inTests
		}
		number, _ := strconv.Atoi(line)
		if at < 0 || left[isTests] == 0 {
			continue
		}
		f := &tree.Files[at]
		e := excerpt{Path: before + f.Path, Tests: isTests, At: number}
		if slices.ContainsFunc(all, func(o excerpt) bool { return o.Path == e.Path && o.At == e.At }) || !e.cut(f.Text) {
			continue
		}
		left[isTests]--
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b excerpt) int {
		return map[bool]int{true: 0, false: 1}[a.Tests] - map[bool]int{true: 0, false: 1}[b.Tests]
	})
	return all
}

// longest returns the index of the longest file name that path ends with, after prefix; -1 if no file matches.
func longest(path, prefix string, tree *Tree) int {
	path, found := strings.ReplaceAll(path, `\`, "/"), -1
	for i := range tree.Files {
		whole := prefix + tree.Files[i].Path
		fits := path == whole || strings.HasSuffix(path, whole) && path[len(path)-len(whole)-1] == '/'
		if fits && (found < 0 || len(whole) > len(prefix+tree.Files[found].Path)) {
			found = i
		}
	}
	return found
}

// cut sets the lines of an excerpt. It returns false if the text is shorter.
func (e *excerpt) cut(content string) bool {
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if e.At < 1 || e.At > len(lines) || content == "" {
		return false
	}
	e.First = max(1, e.At-excerptAround)
	for _, line := range lines[e.First-1 : min(len(lines), e.At+excerptAround)] {
		e.Lines = append(e.Lines, text.Line(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "), excerptColumns))
	}
	return true
}
