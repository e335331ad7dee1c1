package lang

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

func (l *loader) evaluateSolution(d *decl) cty.Value {
	var made []*Solution
	var values []cty.Value
	insts := l.expandEach(d)
	if r := l.collection(d.block.Body); r != nil {
		var all []instance
		for _, inst := range insts {
			all = append(all, l.expandRecord(d, inst, r)...)
		}
		insts = all
	}
	for _, inst := range insts {
		if l.ctx.Err() != nil {
			break
		}
		s := l.solution(d, inst)
		if s == nil {
			continue
		}
		made = append(made, s)
		l.instances.solutions[s.Ref] = s
		value := l.solutionValue(s)
		l.instances.values[s.Ref] = value
		values = append(values, value)
	}
	d.made = made
	l.warnUnrecorded(d, made)
	if d.failed {
		return cty.DynamicVal
	}
	return collect(insts, values, l.solutionValue(&Solution{Problem: &Problem{}}).Type())
}

// solution reads an instance. It returns nil if it answers no known problem. If it answers an invalid problem,
// it omits what cannot be evaluated.
func (l *loader) solution(d *decl, inst instance) *Solution {
	b := l.open(d, d.block, d.schema, inst.ctx)
	s := &Solution{Ref: inst.ref(d), Range: convertRange(d.header), Problem: inst.problem}
	if s.Problem == nil {
		s.Problem = b.solvedProblem()
	}
	if s.Problem != nil && len(s.Problem.Invalid) > 0 {
		b.decl = d.forInstance(l.reporterFor(s.Ref)) // errors that follow from errors of its problem
	}
	if s.Problem != nil {
		b.read("solution", s.Problem)
	}
	s.Name = b.displayName(inst.name(d))
	b.fill(s)
	if s.IgnoreSyntax != "fnmatch" { // fnmatch has no malformed patterns
		for _, text := range s.Ignore {
			pattern(b, "ignore", text)
		}
	}
	s.Labels = b.labelValues()
	if s.Problem == nil {
		d.failed = true
		return nil
	}
	if inst.collected != nil {
		b.setRecorded(s, inst.collected)
		return s
	}
	b.recordResults(s)
	s.Failed = b.whyFailed(s.Problem)
	for _, c := range s.Problem.Checkpoints {
		at := *b
		at.ctx = b.ctx.NewChild()
		at.ctx.Variables = map[string]cty.Value{"checkpoint": checkpointValue(c)}
		s.Checkpoints = append(s.Checkpoints, at.solutionCheckpoint(s, c))
	}
	return s
}

// solvedProblem reads the problem attribute.
func (b *block) solvedProblem() *Problem {
	v, g := b.value(b.schemaOf("problem", TypeProblem))
	if g != isSet {
		return nil
	}
	if p := b.l.instances.problems[refOf(v)]; p != nil {
		return p
	}
	if v.Type().IsMapType() && v.LengthInt() > 0 {
		it := v.ElementIterator()
		it.Next()
		key, first := it.Element()
		if p := b.l.instances.problems[refOf(first)]; p != nil {
			base, _, _ := strings.Cut(p.Ref, "[")
			b.reject("problem", "wrong-type", "Many problems instead of one",
				fmt.Sprintf("%s has for_each, so it is a map of problems and not one.", base),
				fmt.Sprintf("choose one, as in %s[%s], or write for_each = %s and problem = each.value", base, valueText(key), base))
			return nil
		}
	}
	b.wrongType("problem", "a problem, such as problem.name", v.Type())
	return nil
}

func (b *block) labelValues() []Label {
	v, g := b.value(b.schemaOf("labels", TypeMap))
	if g != isSet {
		return nil
	}
	texts, err := convert.Convert(shortNumbers(v), cty.Map(cty.String))
	if err != nil {
		b.wrongType("labels", "a map of strings", v.Type())
		return nil
	}
	var labels []Label
	for it := texts.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if value.IsNull() {
			b.reject("labels", "wrong-type", "Wrong type", fmt.Sprintf("labels.%s is null.", key.AsString()), "")
			return nil
		}
		labels = append(labels, Label{Name: key.AsString(), Value: value.AsString()})
	}
	return labels
}

// shortNumbers converts the numbers of a map to text with as many digits as distinguish 64-bit floats. HCL
// computes with higher precision: 1/3 would have 154 digits.
func shortNumbers(v cty.Value) cty.Value {
	if v.IsNull() || !v.CanIterateElements() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return v
	}
	values := v.AsValueMap()
	for name, value := range values {
		if value.IsKnown() && !value.IsNull() && value.Type() == cty.Number && !value.AsBigFloat().IsInt() {
			f, _ := value.AsBigFloat().Float64()
			values[name] = cty.StringVal(strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	if len(values) == 0 {
		return v
	}
	return cty.ObjectVal(values)
}

// solutionCheckpoint reads the values for a checkpoint.
func (b *block) solutionCheckpoint(s *Solution, c *Checkpoint) SolutionCheckpoint {
	sc := SolutionCheckpoint{Checkpoint: c}
	if s.Problem.GivesScores() {
		b.scoredSolution(s, &sc)
		return sc
	}
	if sc.From = b.filesOutput("source"); sc.From == nil {
		if source, g := b.path("source"); g == isSet {
			sc.Source = source
			sc.Missing = b.submissionMissing(s, source)
		}
	}
	entry, g := b.text("entry")
	if g == isAbsent || g == isNull {
		entry = s.Problem.Entry
	}
	sc.Entry = entry
	if g.usable() && strings.TrimSpace(entry) == "" && s.Problem.NeedsEntry() {
		b.fail(finding{
			code: "missing-attribute", summary: "No entry", rng: b.at("entry").rng,
			detail: fmt.Sprintf("Neither %s nor %s has an entry, the command that starts a solution.", s.Ref, s.Problem.Ref),
			hint:   hintEntry,
		})
	}
	sc.Setup, _ = b.texts("setup")
	return sc
}

// whyFailed reads the reason why the code is missing.
func (b *block) whyFailed(p *Problem) string {
	why, g := b.text("failed")
	switch {
	case g != isSet:
		return ""
	case !p.GivesScores() && len(p.Invalid) == 0:
		b.reject("failed", "unknown-attribute", "Attribute does not apply", fmt.Sprintf("%s gives no scores.", p.Ref), `write missing = "skip" if the source can be missing`)
	case strings.TrimSpace(why) == "":
		b.reject("failed", "bad-value", "No reason", "failed is the reason for missing code, so it must not be empty.", "write failed = null if the code exists")
	}
	return why
}

// scoredSolution reads the values for a problem that gives scores.
func (b *block) scoredSolution(s *Solution, sc *SolutionCheckpoint) {
	for _, name := range []string{"entry", "setup"} {
		if b.attrs[name] != nil {
			b.reject(name, "unknown-attribute", "Attribute does not apply", fmt.Sprintf("A solution of a problem with a %s block has no %s.", s.Problem.Kind(), name), "remove it")
		}
	}
	if s.Failed != "" {
		sc.Source = b.placeOfFailed()
		return
	}
	if sc.From = b.filesOutput("source"); sc.From != nil {
		if s.Problem.Judge != nil {
			b.judgeableOutput(s.Problem, sc.From)
		}
		return
	}
	source, g := b.path("source")
	if g != isSet {
		return
	}
	sc.Source = source
	if sc.Missing = b.submissionMissing(s, source); sc.Missing {
		return
	}
	if _, err := os.Stat(source); err == nil {
		b.judgeable(s.Problem, source)
	}
}

// placeOfFailed returns the path at which the missing code would be, which lists of pairs can name; "" if it is
// unknown. The path is not read.
func (b *block) placeOfFailed() string {
	quiet := *b
	quiet.decl = b.decl.forInstance(b.l.reporterFor(""))
	source, _ := quiet.path("source")
	return source
}

// judgeable checks by name whether a judge supports a source. If it is not a file, that is its author's
// fault.
func (b *block) judgeable(p *Problem, source string) {
	if f := notJudgeable(p, source, b.l.show(source)); f.code != "" {
		b.reject("source", f.code, f.summary, f.detail, f.hint)
	}
}

// judgeableOutput does the checks of judgeable for an output of a task.
func (b *block) judgeableOutput(p *Problem, from *OutputRef) {
	if o := b.fileOf("source").Output(); o.Kind == OutputFile || o.Kind == OutputAny {
		b.judgeable(p, from.Output().Path)
	}
}

// notJudgeable returns a finding that explains why a source is not supported, or the zero finding.
func notJudgeable(p *Problem, source, shown string) finding {
	if p.Judge != nil && p.Judge.LanguageOf(source) == "" {
		return finding{code: "unknown-language", summary: "Unknown language",
			detail: fmt.Sprintf("The extension of %q does not identify a language.", shown),
			hint:   "known are " + strings.Join(languages(), " and ") + `; or set language = "cpp" in the problem's judge block`}
	}
	return finding{}
}

// submissionMissing reports whether a source is missing, which is allowed if missing is "skip" or "omit". An
// unreadable source is left to the node that reads it, so that only its dependents are affected.
func (b *block) submissionMissing(s *Solution, source string) bool {
	for at := source; at != b.l.root && at != filepath.Dir(at); at = filepath.Dir(at) {
		b.l.input("link", at) // see refuseBorrowed
	}
	if info, err := os.Lstat(source); err != nil || info.Mode()&os.ModeSymlink != 0 {
		b.l.input("exists", source)
	}
	_, err := os.Stat(source)
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if s.Missing != "error" {
		return true
	}
	b.reject("source", "missing-file", "Missing file or directory", pathReason(b.l.show(source), err), `write missing = "skip" if solutions can lack checkpoints`)
	return false
}

// solutionValue returns the value of a reference to s.
func (l *loader) solutionValue(s *Solution) cty.Value {
	labels := cty.MapValEmpty(cty.String)
	if len(s.Labels) > 0 {
		values := map[string]cty.Value{}
		for _, label := range s.Labels {
			values[label.Name] = cty.StringVal(label.Value)
		}
		labels = cty.MapVal(values)
	}
	var reached []*Checkpoint
	for _, answer := range s.Checkpoints {
		if !answer.Missing {
			reached = append(reached, answer.Checkpoint)
		}
	}
	problem, known := l.instances.values[s.Problem.Ref]
	if !known {
		problem = problemValue(s.Problem)
	}
	return cty.ObjectVal(map[string]cty.Value{
		"ref":         cty.StringVal(s.Ref),
		"kind":        cty.StringVal("solution"),
		"name":        cty.StringVal(s.Name),
		"labels":      labels,
		"checkpoints": checkpointList(reached),
		"problem":     problem,
	})
}
