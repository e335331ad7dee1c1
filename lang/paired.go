package lang

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Paired is a resolved list of pairs.
type Paired struct {
	Solutions []*Solution  // distinct, in the order of the list
	Places    []diag.Range // positions of the pairs that name them
	Lacking   []Lacking    // pairs without a solution, in the order of the list
}

// Lacking is a pair whose problem exists, but not its solution.
type Lacking struct {
	Problem  *Problem
	Solution string // as written
	Range    diag.Range
}

// maxAlike limits the shown findings of a kind for a list.
const maxAlike = 20

// ReadPairs reads the list of pairs in a file; see package pairs for its form. A solution is named by its
// name, or by the end of its source's path as in "flash/gpt5.py". A relative file is resolved against dir.
// Pairs with unknown problems are errors, and repeated pairs are warnings. The caller decides whether to
// report Lacking, with Findings.
func (c *Config) ReadPairs(dir, file string) (*Paired, diag.List) {
	name := file
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return readPairs(name, file, c.Problems, c.Solutions)
}

// Findings returns errors for the pairs in Lacking.
func (p *Paired) Findings() diag.List {
	var findings limited
	for _, lack := range p.Lacking {
		findings.add(lack.Range, "unknown-pair", func() diag.Diagnostic {
			return diag.Diagnostic{
				Summary: "Pair without a solution",
				Detail:  fmt.Sprintf("The problem %q has no solution %q.", lack.Problem.Name, lack.Solution),
			}
		})
	}
	return findings.list()
}

func readPairs(name, shown string, problems []*Problem, solutions []*Solution) (*Paired, diag.List) {
	at := diag.Range{File: shown}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, diag.List{{Severity: diag.Error, Code: "unreadable-file", Summary: "Unreadable list of pairs",
			Detail: fmt.Sprintf("%q is not a regular file.", shown), Range: &at}}
	}
	content, err := os.ReadFile(name)
	if err != nil {
		d := diag.Diagnostic{Severity: diag.Error, Code: "unreadable-file", Summary: "Unreadable list of pairs", Detail: pathReason(shown, err), Range: &at}
		if isMissing(err) {
			d.Code, d.Summary = "missing-file", "Missing list of pairs"
		}
		return nil, diag.List{d}
	}
	list, findings := parsePairs(shown, content)
	r := newPairing(problems, solutions)
	for _, p := range list {
		r.take(p)
	}
	return &r.Paired, slices.Concat(limit(findings), r.unknown.list(), r.repeated.list())
}

// pairing resolves the names in pairs.
type pairing struct {
	Paired
	problems map[string]*Problem
	named    map[solutionName]*Solution
	placed   map[solutionName][]*Solution // by the last part of a source's path, without extension for failed ones
	names    []string                     // of problems
	first    map[*Solution]int            // line
	lacking  map[solutionName]int         // as above
	unknown  limited
	repeated limited
}

type solutionName struct {
	problem *Problem
	name    string
}

func newPairing(problems []*Problem, solutions []*Solution) *pairing {
	r := &pairing{problems: map[string]*Problem{}, named: map[solutionName]*Solution{}, placed: map[solutionName][]*Solution{},
		first: map[*Solution]int{}, lacking: map[solutionName]int{}}
	for _, p := range problems {
		r.problems[p.Name] = p
		r.names = append(r.names, p.Name)
	}
	for _, s := range solutions {
		r.named[solutionName{s.Problem, s.Name}] = s
		for _, c := range s.Checkpoints {
			base := path.Base(filepath.ToSlash(c.Source))
			if s.Failed != "" {
				base = withoutExtension(base)
			}
			key := solutionName{s.Problem, base}
			if same := r.placed[key]; c.Source != "" && (len(same) == 0 || same[len(same)-1] != s) {
				r.placed[key] = append(same, s)
			}
		}
	}
	return r
}

func (r *pairing) take(p filePair) {
	problem := r.problems[p.Problem]
	if problem == nil {
		r.unknown.add(p.Range, "unknown-pair", func() diag.Diagnostic {
			return diag.Diagnostic{Summary: "Pair without a problem", Detail: fmt.Sprintf("No problem is named %q.", p.Problem), Hint: didYouMean(p.Problem, r.names, "")}
		})
		return
	}
	found := r.find(problem, p.Solution)
	switch {
	case len(found) > 1:
		r.unknown.add(p.Range, "ambiguous-pair", func() diag.Diagnostic {
			return diag.Diagnostic{Summary: "Ambiguous pair", Detail: fmt.Sprintf("%q can be %s and %s.", p.Solution, found[0].Ref, found[1].Ref),
				Hint: fmt.Sprintf("write the solution's name, as in %s:%s", found[0].Name, problem.Name)}
		})
	case len(found) == 0:
		key := solutionName{problem, p.Solution}
		if line := r.lacking[key]; line > 0 {
			r.repeat(p, line)
			return
		}
		r.lacking[key] = p.Range.Start.Line
		r.Lacking = append(r.Lacking, Lacking{Problem: problem, Solution: p.Solution, Range: p.Range})
	case r.first[found[0]] > 0:
		r.repeat(p, r.first[found[0]])
	default:
		r.first[found[0]] = p.Range.Start.Line
		r.Solutions = append(r.Solutions, found[0])
		r.Places = append(r.Places, p.Range)
	}
}

func (r *pairing) repeat(p filePair, line int) {
	r.repeated.add(p.Range, "duplicate-pair", func() diag.Diagnostic {
		return diag.Diagnostic{Severity: diag.Warning, Summary: "Duplicate pair", Detail: fmt.Sprintf("It is also in line %d, and counts once.", line)}
	})
}

// find returns the solutions that match a name or the end of a path. A failed solution has a substitute for
// its file.
func (r *pairing) find(p *Problem, name string) []*Solution {
	if s := r.named[solutionName{p, name}]; s != nil {
		return []*Solution{s}
	}
	end := path.Clean(filepath.ToSlash(name))
	var found []*Solution
	for _, s := range r.placed[solutionName{p, path.Base(end)}] {
		if s.Failed == "" && s.isAt(end) {
			found = append(found, s)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, s := range r.placed[solutionName{p, withoutExtension(path.Base(end))}] {
		if s.Failed != "" && s.isAt(end) {
			found = append(found, s)
		}
	}
	return found
}

// isAt reports whether a source of the solution has a path that ends in end.
func (s *Solution) isAt(end string) bool {
	return slices.ContainsFunc(s.Checkpoints, func(c SolutionCheckpoint) bool {
		source, end := filepath.ToSlash(c.Source), end
		if s.Failed != "" {
			source, end = withoutExtension(source), withoutExtension(end)
		}
		return source == end || strings.HasSuffix(source, "/"+end)
	})
}

func withoutExtension(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }

// limited collects findings of one kind: the first are kept, and the others counted.
type limited struct {
	told diag.List
	more int
}

// add appends a finding at a position, or counts it beyond the maximum. It is an error unless its severity
// is set.
func (l *limited) add(at diag.Range, code string, finding func() diag.Diagnostic) {
	if len(l.told) == maxAlike {
		l.more++
		return
	}
	d := finding()
	d.Code, d.Range = code, &at
	if d.Severity == "" {
		d.Severity = diag.Error
	}
	l.told = append(l.told, d)
}

// list returns the findings, and a last one with the number of omitted ones.
func (l *limited) list() diag.List {
	if l.more == 0 {
		return l.told
	}
	last := l.told[len(l.told)-1]
	return append(l.told, diag.Diagnostic{Severity: last.Severity, Code: last.Code, Summary: last.Summary,
		Detail: fmt.Sprintf("%[2]q has %[1]d more such lines.", l.more, last.Range.File), Range: last.Range})
}

// limit does the same for existing findings.
func limit(findings diag.List) diag.List {
	var l limited
	for _, d := range findings {
		l.add(*d.Range, d.Code, func() diag.Diagnostic { return d })
	}
	return l.list()
}

// paired reads the list of pairs of a suite; nil if it has none.
func (b *block) paired() ([]*Solution, presence) {
	name, g := b.path("pairs")
	if g != isSet {
		return nil, g
	}
	b.l.input("file", name)
	paired, findings := readPairs(name, b.l.show(name), b.l.everyProblem(), b.l.everySolution())
	if paired != nil {
		findings = append(findings, paired.Findings()...)
	}
	errors := findings.HasErrors()
	if b.l.anyFailed("problem", "solution") { // a pair can name an invalid problem or solution
		findings = slices.DeleteFunc(findings, func(d diag.Diagnostic) bool { return d.Code == "unknown-pair" })
	}
	for _, d := range findings {
		if d.Range.Start.Line == 0 { // about the file as a whole
			at := convertRange(b.at("pairs").rng)
			d.Range = &at
		}
		b.l.findings = append(b.l.findings, d)
	}
	if !errors {
		return paired.Solutions, isSet
	}
	b.decl.failed = true
	return nil, isFailed
}

func (l *loader) everyProblem() []*Problem {
	var all []*Problem
	for _, d := range l.decls {
		if made, ok := d.made.([]*Problem); ok {
			all = append(all, made...)
		}
	}
	return all
}
