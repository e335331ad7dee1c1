package lang

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// adHocName names the solution and the suite of an AdHoc.
const (
	adHocName = "eval"
	adHocRef  = "solution." + adHocName
)

// addAdHoc adds the solution of `fevalgraph eval` and its suite.
func (l *loader) addAdHoc(a AdHoc) {
	p := l.adHocProblem(a.Problem)
	b := l.adHocBackend(a.Backend, p)
	path := a.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.base, path)
	}
	l.input("exists", path)
	if _, err := os.Stat(path); err != nil {
		code := "missing-file"
		if !isMissing(err) {
			code = "unreadable-file"
		}
		l.report(finding{code: code, summary: "No solution", detail: pathReason(a.Path, err)})
		return
	}
	if p == nil || b == nil {
		return
	}
	if len(p.Invalid) > 0 { // loading cannot continue
		l.findings = append(l.findings, p.Invalid...)
		return
	}
	for _, s := range l.config.Solutions {
		if s.Problem == p && s.Name == adHocName || s.Ref == adHocRef {
			l.report(finding{
				code: "duplicate", summary: "Duplicate name", rng: hclRange(s.Range),
				detail: fmt.Sprintf("%s is named %q, which is reserved for the solution on the command line.", s.Ref, adHocName),
			})
			return
		}
	}
	s := &Solution{Name: adHocName, Ref: adHocRef, Problem: p, Missing: "omit"}
	s.filesByDefault()
	if !l.adHocCheckpoints(s, path, a.Checkpoint) {
		return
	}
	l.config.Solutions = append(l.config.Solutions, s)
	l.config.Suites = append(l.config.Suites, &Suite{
		Name: adHocName, Description: "The solution on the command line.", Implicit: true,
		Cells: []Cell{{Solution: s, Backend: b, Repeat: 1}},
	})
}

// filesByDefault sets the defaults of a solution block about files.
func (s *Solution) filesByDefault() {
	schema := solutionSchema()
	s.Files = defaultValue(schema.Attribute("files")).AsString()
	s.IgnoreSyntax = defaultValue(schema.Attribute("ignore_syntax")).AsString()
	for _, v := range defaultValue(schema.Attribute("ignore")).AsValueSlice() {
		s.Ignore = append(s.Ignore, v.AsString())
	}
}

// adHocCheckpoints selects the checkpoints that path answers: every checkpoint that has a directory there,
// or else the requested one, or the last.
func (l *loader) adHocCheckpoints(s *Solution, path, wanted string) bool {
	var names []string
	perCheckpoint := false
	if s.Problem.Scored() {
		if wanted != "" {
			l.report(finding{code: "unknown-checkpoint", summary: "Unknown checkpoint", detail: fmt.Sprintf("%s has no checkpoints.", s.Problem.Ref), hint: "omit --checkpoint"})
			return false
		}
		if _, err := os.Stat(path); err == nil {
			if f := notJudgeable(s.Problem, path, l.show(path)); f.code != "" {
				l.report(f)
				return false
			}
		}
		s.Checkpoints = []SolutionCheckpoint{{Checkpoint: s.Problem.Checkpoints[0], Source: path}}
		return true
	}
	for _, c := range s.Problem.Checkpoints {
		names = append(names, c.Name)
		dir := filepath.Join(path, c.Name)
		l.input("exists", dir)
		sc := SolutionCheckpoint{Checkpoint: c, Source: dir, Entry: s.Problem.Entry, Missing: true}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			sc.Missing = false
			perCheckpoint = true
		}
		s.Checkpoints = append(s.Checkpoints, sc)
	}
	if len(names) == 0 {
		return false // the problem has an error itself
	}
	if s.Problem.Entry == "" && s.Problem.NeedsEntry() {
		l.report(finding{code: "missing-attribute", summary: "No entry", rng: hclRange(s.Problem.Range),
			detail: fmt.Sprintf("%s has no entry, the command that starts a solution.", s.Problem.Ref), hint: hintEntry})
		return false
	}
	found := wanted == ""
	for i := range s.Checkpoints {
		sc := &s.Checkpoints[i]
		switch isWanted := sc.Checkpoint.Name == wanted; {
		case isWanted:
			found = true
			if !perCheckpoint {
				sc.Source, sc.Missing = path, false
			}
		case wanted != "":
			sc.Missing = true
		case !perCheckpoint && i == len(s.Checkpoints)-1:
			sc.Source, sc.Missing = path, false
		}
	}
	for _, sc := range s.Checkpoints {
		if found && sc.Checkpoint.Name == wanted && sc.Missing {
			l.report(finding{code: "missing-file", summary: "No solution", detail: pathReason(l.show(sc.Source), fs.ErrNotExist)})
			return false
		}
	}
	if !found {
		l.report(finding{
			code: "unknown-checkpoint", summary: "Unknown checkpoint",
			detail: fmt.Sprintf("%s has no checkpoint %q.", s.Problem.Ref, wanted), hint: didYouMean(wanted, names, ""),
		})
	}
	return found
}

func (l *loader) adHocProblem(wanted string) *Problem {
	var names []string
	for _, p := range l.config.Problems {
		if wanted == p.Name || wanted == p.Ref || wanted == strings.TrimPrefix(p.Ref, "problem.") {
			return p
		}
		names = append(names, p.Name)
	}
	f := finding{
		code: "unknown-reference", summary: "Unknown problem",
		detail: fmt.Sprintf("No problem is named %q.", wanted), hint: didYouMean(wanted, names, ""),
	}
	if len(names) == 0 {
		f.hint = "no problem is declared"
	}
	l.report(f)
	return nil
}

// adHocBackend returns the requested backend or, by default, the first that can evaluate p.
func (l *loader) adHocBackend(wanted string, p *Problem) *Backend {
	var names []string
	for _, b := range l.config.Backends {
		if p != nil && !p.RunsOn(b) {
			continue
		}
		if wanted == "" || wanted == b.Addr() || wanted == "backend."+b.Addr() {
			return b
		}
		names = append(names, b.Addr())
	}
	if len(names) == 0 && p != nil && len(l.config.Backends) > 0 {
		l.report(unpairedFinding(p))
	}
	if len(names) > 0 {
		l.report(finding{
			code: "unknown-reference", summary: "Unknown backend",
			detail: fmt.Sprintf("No backend named %q can evaluate it.", wanted), hint: didYouMean(wanted, names, ""),
		})
	}
	return nil
}
