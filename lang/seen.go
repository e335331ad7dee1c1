package lang

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// Seen separates the parts of a problem that solvers see from the parts that grade answers. Evaluation
// ignores it; it is used to compare releases of a set of problems.
type Seen struct {
	Directory string   // absolute path of the problem's files; "" if it has only specs and assets
	Grading   []string `hcl:"grading"` // doublestar patterns of files in Directory that only grading reads
	Ignored   []string `hcl:"ignored"` // patterns of files that neither solvers nor grading read; all others are seen
	From      []Label  // patterns of files and settings, by the first checkpoint in which solvers see them
	Settings  []Label  // values that solvers see
	Rules     []Label  // values that affect verdicts but enter no key
	Images    []string `hcl:"images"` // names of the images of solvers and graders
}

func seenSchema() BlockSchema {
	return BlockSchema{
		Name: "seen",
		Doc:  "Distinguishes what solvers see from what grades, for `fevalgraph release`. Specs and assets are always seen.",
		Attributes: []AttributeSchema{
			{Name: "directory", Type: TypeText, Path: true, Doc: "Directory of the problem's files. The default is that of a benchmark's problem, or a judge's root."},
			{Name: "grading", Type: TypeTexts, Form: pattern, Default: "[]", Doc: "Patterns of files that only grading reads."},
			{Name: "ignored", Type: TypeTexts, Form: pattern, Default: "[]", Doc: "Patterns of files that neither solvers nor grading read. All others are seen."},
			{Name: "from", Type: TypeMap, Default: "{}", Doc: "Patterns of files and settings that solvers see only from a checkpoint on, by its name."},
			{Name: "settings", Type: TypeMap, Default: "{}", Doc: "Other values that solvers see, by any names."},
			{Name: "rules", Type: TypeMap, Default: "{}", Doc: "Other values that decide about verdicts."},
			{Name: "images", Type: TypeTexts, Default: "[]", Doc: "Images that files of the problem name; tags are listed, because they can move."},
		},
	}
}

// seenBlock reads the block.
func (b *block) seenBlock() *Seen {
	s := &Seen{}
	b.fill(s)
	s.Directory, _ = b.path("directory")
	s.From, s.Settings, s.Rules = b.sorted("from"), b.sorted("settings"), b.sorted("rules")
	for _, from := range s.From {
		if !doublestar.ValidatePattern(from.Value) {
			b.reject("from", "bad-pattern", "Bad pattern", fmt.Sprintf("%q is not a valid pattern.", from.Value), "")
		}
	}
	return s
}

// sorted reads a map of strings.
func (b *block) sorted(name string) (all []Label) {
	texts := b.textMap(name)
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, Label{key, texts[key]})
	}
	return all
}

// Shows returns the Seen of p. By default, solvers of a judge problem see all files that the judge block
// does not name.
func (p *Problem) Shows() *Seen {
	s := &Seen{Directory: p.ReadFrom}
	switch {
	case p.Seen != nil:
		*s = *p.Seen
		s.Directory = cmp.Or(s.Directory, p.ReadFrom)
		return s
	case p.Judge == nil || p.Judge.Root == "":
		return s
	}
	s.Directory = p.Judge.Root
	hide := func(path string, below string) {
		if rel, ok := subpath.Rel(s.Directory, path); ok && rel != "." {
			s.Grading = append(s.Grading, EscapeGlob(rel)+below)
		}
	}
	hide(p.Judge.Checker, "")
	for _, dir := range p.Judge.Include {
		hide(dir, "/**")
	}
	for _, subtask := range p.Judge.Subtasks {
		for _, one := range subtask.Cases {
			hide(one.Input, "")
			hide(one.Output, "")
		}
	}
	for _, r := range p.References {
		for _, answer := range r.Checkpoints {
			hide(answer.Source, "{,/**}")
		}
	}
	return s
}
