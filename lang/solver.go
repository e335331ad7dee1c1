package lang

import (
	"maps"
	"slices"
	"time"
)

// Names of the references that Solvers produce.
const (
	OracleName = "oracle"
	NopName    = "nop"
)

// Solver produces the answers of a reference in the container of agents: by scripts that the problem ships
// or, without scripts, from the artifacts of the image.
type Solver struct {
	In    *Verifier    // the container; the settings that it shares with a verifier
	Steps []SolverStep // by checkpoint, in the problem's order, all in one container
}

// SolverStep produces the answer to a checkpoint.
type SolverStep struct {
	// Workdir is the absolute path of a directory whose files are put into the working directory first. If
	// they contain setup.sh, it runs. "" means none.
	Workdir   string
	Directory string   // absolute path of the directory with the script; "" means no script
	Script    string   // its name
	LeaveOut  []string // absolute paths, in Directory
	Timeout   time.Duration
	After     []SolverCommand // run after the script, whatever their exit codes
}

// SolverCommand is a shell command line.
type SolverCommand struct {
	Line    string
	Timeout time.Duration
}

// MadeSolver is a Solver from a Reader. Made has attributes of a verifier block: those of the container.
// Without an image or a Dockerfile, they are the verifier's.
type MadeSolver struct {
	Made
	Steps    map[string]MadeStep // by checkpoint
	Unusable string              // why answers cannot be produced; "" if they can
}

// MadeStep is a SolverStep from a Reader.
type MadeStep struct {
	SolverStep
	Unusable string // why its script cannot run; "" if it can
}

// madeReferences returns the references that the reader of a problem creates: answers of the problem's scripts
// must pass, and an empty answer must fail.
func (b *block) madeReferences(p *Problem) []*Reference {
	made := b.l.instances.read[p].solver
	if made == nil || b.decl.failed {
		return nil
	}
	in := &Verifier{Range: convertRange(b.header)}
	container := b.solverContainer(&made.Made)
	container.fill(in)
	container.verifierContainer(in)
	oracle := &Reference{Name: OracleName, Expect: ExpectPass, Solver: &Solver{In: in}, Range: in.Range}
	nop := &Reference{Name: NopName, Expect: ExpectFail, Solver: &Solver{In: in}, Range: in.Range}
	unusable := ""
	for _, c := range p.Checkpoints {
		step, known := made.Steps[c.Name]
		if !known { // a block of the configuration's own
			continue
		}
		if unusable == "" {
			unusable = step.Unusable // later steps work on the files of earlier ones
		}
		answer := SolutionCheckpoint{Checkpoint: c, Unusable: made.Unusable}
		nop.Checkpoints, nop.Solver.Steps = append(nop.Checkpoints, answer), append(nop.Solver.Steps, SolverStep{Workdir: step.Workdir, After: step.After})
		if answer.Unusable == "" {
			answer.Unusable = unusable
		}
		oracle.Checkpoints, oracle.Solver.Steps = append(oracle.Checkpoints, answer), append(oracle.Solver.Steps, step.SolverStep)
	}
	return []*Reference{oracle, nop}
}

// solverContainer returns a block with the attributes of a solver's container.
func (b *block) solverContainer(made *Made) *block {
	verifier := b.singleBlock("verifier")
	c := &block{l: b.l, src: verifier.src, decl: b.decl, schema: verifier.schema, ctx: b.ctx, header: b.header}
	c.attrs = maps.Clone(verifier.attrs)
	names := []string{"image_map", "image", "dockerfile", "context"}
	if made.Attributes["image"] != nil || made.Attributes["dockerfile"] != nil {
		names = names[:1]
	}
	for name := range verifier.attrs {
		if !slices.Contains(names, name) {
			delete(c.attrs, name)
		}
	}
	c.merge(made, b.header)
	return c
}

// unusable marks all answers of s as unusable for a reason, unless they already have a reason.
func (s *Solution) unusable(why string) {
	s.Checkpoints = slices.Clone(s.Checkpoints)
	for i := range s.Checkpoints {
		if s.Checkpoints[i].Unusable == "" {
			s.Checkpoints[i].Unusable = why
		}
	}
}

// referenceBackend returns the first backend that can judge the references of p: one with containers, if they need them.
func (l *loader) referenceBackend(p *Problem) *Backend {
	if p.References[0].Solver != nil {
		for _, b := range l.config.Backends {
			if b.Container != nil && p.RunsOn(b) {
				return b
			}
		}
	}
	return l.adHocBackend("", p)
}
