package describe

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Named returns the fields of a problem, solution or task, given its name or a reference, as pairs of label and
// value. It returns false if it is not found.
func Named(ctx context.Context, of *eval.Project, name string) ([][]string, bool) {
	cfg := of.Plan.Config
	for _, p := range cfg.Problems {
		if name == p.Name || name == p.Ref {
			return problemFacts(p), true
		}
	}
	for _, s := range cfg.Solutions {
		if name == s.Name || name == s.Ref {
			return solutionFacts(s), true
		}
	}
	for _, t := range cfg.Tasks {
		if name == t.Name || name == t.Ref {
			return append(taskFacts(t), outputFacts(t, of.Products(ctx, plan.TaskAddress(t)))...), true
		}
	}
	return nil, false
}

func problemFacts(p *lang.Problem) [][]string {
	facts := [][]string{
		{"problem", p.Name}, {"reference", p.Ref}, {"title", p.Title}, {"version", strconv.Itoa(p.Version)},
		{"tags", strings.Join(p.Tags, ", ")}, {"author", p.Author}, {"difficulty", p.Difficulty}, {"category", p.Category},
		{"entry", p.Entry}, {"description", strings.TrimSpace(p.Description)}, {"declared at", p.Range.String()},
	}
	for _, f := range p.Invalid {
		facts = append(facts, []string{"invalid", diag.List{f}.Error()})
	}
	if p.Pytest != nil {
		facts = append(facts, []string{"tests", sourceOf(p.Pytest.Root, p.Pytest.RootFrom)}, []string{"requires", strings.Join(p.Pytest.Requires, ", ")})
		if ports := p.Pytest.Ports; len(ports) > 0 {
			facts = append(facts, []string{"ports", strings.Trim(fmt.Sprint(ports), "[]")})
		}
	}
	if j := p.Judge; j != nil {
		return append(facts, judgeFacts(j)...)
	}
	if c := p.Command; c != nil {
		return append(facts, commandFacts(p)...)
	}
	for _, c := range p.Checkpoints {
		facts = append(facts, []string{"checkpoint " + c.Name, fmt.Sprintf("order %d, tests %s, prior tests %t, timeout %v, session %v",
			c.Order, strings.Join(c.Tests, " "), c.IncludePriorTests, c.Timeout, c.SessionTimeout)})
		for _, asset := range c.Assets {
			facts = append(facts, []string{"  asset " + asset.Name, sourceOf(asset.Source, asset.From)})
		}
		for _, m := range c.Markers {
			facts = append(facts, []string{"  marker " + m.Name, m.Group})
		}
	}
	return facts
}

func commandFacts(p *lang.Problem) [][]string {
	c := p.Command
	facts := [][]string{
		{"root", c.Root}, {"directory", c.Directory}, {"solution at", c.Solution}, {"setup", strings.Join(c.Setup, "; ")},
		{"runs", shellquote.Join(c.Argv...)}, {"timeout", c.Timeout.String()}, {"uv project", c.UVProject}, {"score from", c.Score.From},
	}
	for _, a := range p.Checkpoints[0].Assets {
		facts = append(facts, []string{"asset at " + a.Target, sourceOf(a.Source, a.From)})
	}
	names, values := p.Resources.Fields()
	for i, name := range names {
		facts = append(facts, []string{"resources " + name, values[i]})
	}
	return facts
}

func judgeFacts(j *lang.Judge) [][]string {
	facts := [][]string{{"root", j.Root}, {"mode", j.Mode}, {"checked by", sourceOf(j.Checker, j.CheckerFrom)}, {"include", sourceOf(strings.Join(j.Include, ", "), j.IncludeFrom)}, {"scores", j.Compat}}
	for i, s := range j.Subtasks {
		facts = append(facts, []string{fmt.Sprintf("subtask %d", i+1), fmt.Sprintf("score %v, %s", s.Score, text.Count(len(s.Cases), "case"))})
		for _, c := range s.Cases {
			facts = append(facts, []string{"  case " + c.Name, fmt.Sprintf("%s, time %v, clock %v, memory %s", c.Input, c.Time, c.Clock, text.Bytes(c.Memory))})
		}
	}
	return facts
}

func solutionFacts(s *lang.Solution) [][]string {
	facts := [][]string{{"solution", s.Name}, {"reference", s.Ref}, {"problem", s.Problem.Name}, {"declared at", s.Range.String()}}
	if len(s.Problem.Invalid) > 0 {
		facts = append(facts, []string{"invalid", "its problem: " + s.Problem.Invalid.Error()})
	}
	for _, l := range s.Labels {
		facts = append(facts, []string{"label " + l.Name, l.Value})
	}
	if s.Failed != "" {
		return append(facts, []string{"failed", s.Failed})
	}
	for _, c := range s.Checkpoints {
		source := sourceOf(c.Source, c.From)
		if c.Missing {
			source = "not reached"
		}
		facts = append(facts, []string{cmp.Or(c.Checkpoint.Name, "source"), source})
	}
	return facts
}

func taskFacts(t *lang.Task) [][]string {
	facts := [][]string{
		{"task", t.Name}, {"reference", t.Ref}, {"description", t.Description}, {"backend", t.Backend.Addr()}, {"directory", t.Directory},
		{"requires", strings.Join(t.Requires, ", ")}, {"setup", strings.Join(t.Setup, "; ")}, {"runs", shellquote.Join(t.Argv...)},
		{"timeout", t.Timeout.String()}, {"declared at", t.Range.String()},
	}
	for _, in := range t.Inputs {
		source := sourceOf(in.Source, in.From)
		if in.Solution != nil {
			source = strings.TrimSpace(in.Solution.Ref + " " + in.Solution.Checkpoints[in.Answer].Checkpoint.Name)
		}
		facts = append(facts, []string{"input at " + in.Target, source})
	}
	return facts
}

// outputFacts lists the outputs of the last answer with their sizes.
func outputFacts(t *lang.Task, made []eval.Product) (facts [][]string) {
	for _, o := range t.Outputs {
		words := []string{o.Kind + " " + o.Path}
		if o.Publish != "" {
			words = append(words, "published as "+o.Publish)
		}
		for _, one := range made {
			if one.Name == o.Name {
				words = append(words, ProductSize(one))
			}
		}
		facts = append(facts, []string{"output " + o.Name, strings.Join(words, ", ")})
	}
	return facts
}

// ProductSize returns the size of an output: "3 files, 12 KiB".
func ProductSize(o eval.Product) string {
	switch {
	case o.Bytes < 0:
		return "no longer in the store"
	case !o.IsFile():
		return text.Count(o.Files, "file") + ", " + text.Bytes(o.Bytes)
	}
	return text.Bytes(o.Bytes)
}

// sourceOf returns a path, or the output of a task that replaces it.
func sourceOf(path string, from *lang.OutputRef) string {
	if from != nil {
		return from.String()
	}
	return path
}

// Node returns the fields of a node, with its last answer.
func Node(ctx context.Context, p *eval.Project, id graph.ID) [][]string {
	n := p.Plan.Graph.Node(id)
	facts := [][]string{{"address", n.Addr}, {"kind", n.Kind}}
	for _, l := range n.Labels {
		facts = append(facts, []string{l.Name, l.Value})
	}
	for _, d := range n.Deps {
		facts = append(facts, []string{"needs", p.Plan.Graph.Node(d.On).Addr})
	}
	last := p.Last(n.Addr)
	if last.Key.IsZero() {
		facts = append(facts, []string{"last answer", "none"})
	} else {
		facts = append(facts, []string{"last answer", fmt.Sprintf("%s in run %s, %s", last.Class, last.Run, text.Duration(last.Seconds))}, []string{"key", last.Key.String()})
	}
	if last.Message != "" {
		facts = append(facts, []string{"message", last.Message})
	}
	if last.Broken != "" {
		facts = append(facts, []string{"last attempt", string(last.Ended()) + ": " + last.Broken})
	}
	for _, o := range p.Products(ctx, n.Addr) {
		facts = append(facts, []string{"output " + o.Name, ProductSize(o) + ", " + o.Digest.String()})
	}
	return facts
}
