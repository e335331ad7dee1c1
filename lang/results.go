package lang

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// RecordedResults are the results of a contender, such as a model, that another program recorded in files.
type RecordedResults struct {
	By        string // the program
	Contender string
	Model     string              // "" if unknown
	Scores    map[string]*float64 // by problem, means over attempts; nil without a verdict
	Solved    bool                // each attempt is 1 or 0: it passed or failed
	Share     bool                // each score is from 0 to 1
}

// recordedFiles are the results in the files of an attribute.
type recordedFiles struct {
	all []*RecordedResults
	err error
}

// recordedIn reads the files that patterns match, once for all solutions.
func (l *loader) recordedIn(dir string, patterns []string) recordedFiles {
	key := strings.Join(append([]string{dir}, patterns...), "\x00")
	known, ok := l.results[key]
	if !ok {
		known.all, known.err = l.readResults(&ReaderFiles{l, dir}, patterns)
		l.results[key] = known
	}
	return known
}

func (l *loader) readResults(files *ReaderFiles, patterns []string) ([]*RecordedResults, error) {
	if l.options.Results == nil {
		return nil, errors.New("this version reads no results of other programs")
	}
	var paths []string
	for _, pattern := range patterns {
		base, rest := splitGlob(pattern)
		names, err := files.Glob(base, rest)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no file matches %q", pattern)
		}
		for _, name := range names {
			paths = append(paths, filepath.Join(base, name))
		}
	}
	slices.Sort(paths)
	return l.options.Results(files, slices.Compact(paths))
}

// contender returns the results for a solution: the only contender's, or those with its name or its label
// model.
func (f recordedFiles) contender(s *Solution) (*RecordedResults, error) {
	if len(f.all) == 1 {
		return f.all[0], nil
	}
	names := []string{s.Name}
	for _, label := range s.Labels {
		if label.Name == "model" && label.Value != "" {
			names = append(names, label.Value)
		}
	}
	var found []*RecordedResults
	var others []string
	for _, one := range f.all {
		if slices.Contains(names, one.Contender) || one.Model != "" && slices.Contains(names[1:], one.Model) {
			found = append(found, one)
		}
		others = append(others, one.Contender)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return nil, fmt.Errorf("the files have results of %s, but not of %s", diag.Some(others), strings.Join(names, " or "))
}

// score returns the recorded score of a problem. A problem is found by its name or, if that is unique, by
// the part of a recorded name after the last slash.
func (r *RecordedResults) score(problem string) (score *float64, known bool, err error) {
	if score, known = r.Scores[problem]; known {
		return score, true, nil
	}
	var names []string
	for name := range r.Scores {
		if at := strings.LastIndexByte(name, '/'); at >= 0 && name[at+1:] == problem {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return nil, false, nil
	case 1:
		return r.Scores[names[0]], true, nil
	}
	slices.Sort(names)
	return nil, false, fmt.Errorf("all of %s match the problem %s", diag.Some(names), problem)
}

// recordResults sets the recorded results from the files of a solution's attribute results.
func (b *block) recordResults(s *Solution) {
	patterns, g := b.texts("results")
	if g != isSet || len(patterns) == 0 {
		return
	}
	files := b.l.recordedIn(b.src.dir, patterns)
	err := files.err
	var score *float64
	var r *RecordedResults
	known := false
	if err == nil {
		if r, err = files.contender(s); err == nil {
			score, known, err = r.score(s.Problem.Name)
		}
	}
	if err != nil {
		b.reject("results", "bad-results", "Results not read", strings.TrimSuffix(err.Error(), ".")+".", "")
		return
	}
	if !known {
		return
	}
	s.Results = &Recorded{By: r.By, Score: score, Valid: true, Comparable: s.Problem.GivesScores() || r.Solved, Solved: !s.Problem.GivesScores()}
	if s.Problem.Scored() && r.Share && score != nil {
		points := *score * 100
		s.Results.Score = &points
	}
}

// warnUnrecorded reports that files of results have none of a block's problems.
func (l *loader) warnUnrecorded(d *decl, made []*Solution) {
	if d.failed || len(made) == 0 || d.block.Body.Attributes["results"] == nil || slices.ContainsFunc(made, func(s *Solution) bool { return s.Results != nil }) {
		return
	}
	names := map[string]bool{}
	for _, s := range made {
		names[s.Problem.Name] = true
	}
	l.reporterOf(d).report(finding{warning: true, code: "no-results", summary: "Results of other problems", rng: d.block.Body.Attributes["results"].SrcRange,
		detail: fmt.Sprintf("The files have no results of %s.", diag.Some(slices.Sorted(maps.Keys(names)))),
		hint:   "the name of a problem must be that of a recorded one, or its part after the last slash"})
}
