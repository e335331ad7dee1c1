package lang

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Candidate is a problem that a recorded solution can answer.
type Candidate struct {
	Name        string
	Checkpoints []string          // by name, in order; "" for a problem that gives scores
	Reader      string            // the block of the Reader that read it; "" if it was written in HCL
	Attributes  map[string]string // of that block
	Score       string            // the name of the number that a verifier uses as score; "" for other problems
}

// Collected is a recorded solution.
type Collected struct {
	Name        string // unique in the record
	Problem     int    // index of the answered candidate
	Labels      map[string]string
	Recorded    Recorded
	Checkpoints map[string]CollectedCheckpoint // by name; a missing one was not reached
}

// CollectedCheckpoint is the recorded answer to a checkpoint: a source, parts, or the reason why the
// answer is missing.
type CollectedCheckpoint struct {
	Source   string // absolute
	Parts    []Part
	Unusable string
}

// collection returns the reader whose attribute is in the body of a solution block, or nil.
func (l *loader) collection(body *hclsyntax.Body) *Reader {
	for i := range l.options.Readers {
		if r := &l.options.Readers[i]; r.Collect != nil && body.Attributes[r.Attribute.Name] != nil {
			return r
		}
	}
	return nil
}

// expandRecord expands one instance of a solution block to an instance for each solution of a record.
func (l *loader) expandRecord(d *decl, inst instance, r *Reader) []instance {
	b := l.open(d, d.block, d.schema, inst.ctx)
	path, g := b.path(r.Attribute.Name)
	if g != isSet {
		return nil
	}
	at := b.at(r.Attribute.Name).rng
	for _, name := range []string{"problem", "source", "failed", "missing", "entry", "setup", "name", "results"} {
		if b.attrs[name] != nil {
			b.reject(name, "unknown-attribute", "Attribute does not apply", fmt.Sprintf("The recorded result defines it for each solution of %s.", r.Attribute.Name), "remove it")
			return nil
		}
	}
	problems := l.everyProblem()
	all, mistakes := r.Collect(&ReaderFiles{l, b.src.dir}, path, l.candidates(problems))
	b.reportErrors(mistakes, at)
	var insts []instance
	for i := range all {
		one := instance{key: all[i].Name, each: true, ctx: inst.ctx, collected: &all[i], problem: problems[all[i].Problem]}
		if inst.each {
			one.key = inst.key + "/" + one.key
		}
		insts = append(insts, one)
	}
	return insts
}

// candidates converts problems to the form for readers of records.
func (l *loader) candidates(problems []*Problem) (all []Candidate) {
	for _, p := range problems {
		known := l.instances.read[p]
		one := Candidate{Name: p.Name, Reader: known.reader, Attributes: known.given}
		for _, checkpoint := range p.Checkpoints {
			one.Checkpoints = append(one.Checkpoints, checkpoint.Name)
		}
		if p.Verified && len(p.Checkpoints) > 0 {
			one.Score = p.Checkpoints[0].Verifier.Reward
		}
		all = append(all, one)
	}
	return all
}

// addRecords adds the solutions that other programs recorded in directories that no block names, and a suite of them.
func (l *loader) addRecords(paths []string) {
	at := slices.IndexFunc(l.options.Readers, func(r Reader) bool { return r.Collect != nil })
	if at < 0 {
		return
	}
	problems, suite := l.everyProblem(), &Suite{Name: "(recorded)", Description: "The solutions that other programs recorded.", Implicit: true}
	declared := map[[2]string]bool{}
	for _, s := range l.config.Solutions {
		declared[[2]string{s.Problem.Name, s.Name}] = true
	}
	for _, path := range paths {
		all, mistakes := l.options.Readers[at].Collect(&ReaderFiles{l, l.base}, path, l.candidates(problems))
		for _, m := range mistakes {
			l.report(finding{warning: m.Severity == diag.Warning, code: m.Code, summary: m.Summary, detail: m.Detail, hint: m.Hint})
		}
		for i := range all {
			s := &Solution{Name: all[i].Name, Ref: path + "/" + all[i].Name, Problem: problems[all[i].Problem]}
			s.filesByDefault()
			s.record(&all[i], all[i].Labels)
			l.config.Solutions = append(l.config.Solutions, s)
			name, on := [2]string{s.Problem.Name, s.Name}, slices.IndexFunc(l.config.Backends, s.Problem.RunsOn)
			if on >= 0 && !declared[name] {
				declared[name] = true
				suite.Cells = append(suite.Cells, Cell{Solution: s, Backend: l.config.Backends[on], Repeat: 1})
			}
		}
	}
	if len(suite.Cells) > 0 {
		l.config.Suites = append(l.config.Suites, suite)
	}
}

// setRecorded sets the fields of a solution that a record contains.
func (b *block) setRecorded(s *Solution, one *Collected) {
	labels := maps.Clone(one.Labels)
	for _, own := range s.Labels {
		labels[own.Name] = own.Value
	}
	if b.attrs["ignore"] == nil { // all recorded checkpoints were graded
		s.Ignore = nil
	}
	s.record(one, labels)
}

// record sets the fields of s from a recorded solution.
func (s *Solution) record(one *Collected, labels map[string]string) {
	s.Name, s.Missing, s.Recorded, s.Labels = one.Name, "skip", &one.Recorded, nil
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		s.Labels = append(s.Labels, Label{name, labels[name]})
	}
	for _, c := range s.Problem.Checkpoints {
		found, reached := one.Checkpoints[c.Name]
		s.Checkpoints = append(s.Checkpoints, SolutionCheckpoint{
			Checkpoint: c, Missing: !reached, Entry: s.Problem.Entry, Source: found.Source, Parts: found.Parts, Unusable: found.Unusable,
		})
	}
}

// reportErrors reports the errors in files that a block reads; at is the range for errors without a position.
func (b *block) reportErrors(mistakes diag.List, at hcl.Range) (failed bool) {
	for _, m := range mistakes {
		failed = failed || m.Severity != diag.Warning
		f := finding{warning: m.Severity == diag.Warning, code: m.Code, summary: m.Summary, detail: m.Detail, hint: m.Hint, rng: at}
		if m.Range != nil {
			f.rng = hclRange(*m.Range)
		}
		b.fail(f)
	}
	return failed
}
