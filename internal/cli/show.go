package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) showCommand() *cobra.Command {
	cmd := command("show ADDR", "Show one problem, solution, task, or node",
		`Show prints what is known of a problem (problem.kvstore or kvstore), a solution
(solution.agent), a task (task.data), or a node (its address).`,
		`  fevalgraph show kvstore
  fevalgraph show 'pytest:kvstore/basic/reference@local.host'`,
		func(cmd *cobra.Command, args []string) error { return a.runShow(cmd.Context(), args[0]) })
	cmd.Args = arguments(1, 1, "what to show")
	return cmd
}

func (a *app) runShow(ctx context.Context, arg string) error {
	p, err := eval.Open(ctx, a.options(), eval.Reading)
	if err != nil {
		return err
	}
	defer p.Close()
	for _, problem := range p.Config.Problems {
		if arg == problem.Name || arg == problem.Ref {
			return a.showFacts(problemFacts(problem))
		}
	}
	for _, s := range p.Config.Solutions {
		if arg == s.Name || arg == s.Ref {
			return a.showFacts(solutionFacts(s))
		}
	}
	for _, t := range p.Config.Tasks {
		if arg == t.Name || arg == t.Ref {
			return a.showFacts(taskFacts(t))
		}
	}
	id, err := p.Node(ctx, arg)
	if err != nil {
		return err
	}
	return a.showFacts(nodeFacts(p, id))
}

func (a *app) showFacts(facts [][]string) error {
	if !a.flags.json {
		view.Table(a.io.Out, []string{"field", "value"}, facts, a.color())
		return nil
	}
	var rows []view.Field
	for _, f := range facts {
		rows = append(rows, view.Field{Label: f[0], Value: f[1]})
	}
	return a.writeJSON(map[string]any{"schema": 1, "fields": rows})
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
		facts = append(facts, []string{"tests", sourceOf(p.Pytest.Root, p.Pytest.RootFrom)}, []string{"requires", strings.Join(p.Pytest.Requires, ", ")}, []string{"split", p.Pytest.Split})
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
			facts = append(facts, []string{"  case " + c.Name, fmt.Sprintf("%s, time %v, clock %v, memory %s", c.Input, c.Time, c.Clock, view.Bytes(c.Memory))})
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
	for _, o := range t.Outputs {
		facts = append(facts, []string{"output " + o.Name, o.Kind + " " + o.Path})
	}
	return facts
}

// sourceOf is a path, or the output of a task in its place.
func sourceOf(path string, from *lang.OutputRef) string {
	if from != nil {
		return from.String()
	}
	return path
}

func nodeFacts(p *eval.Project, id graph.ID) [][]string {
	n := p.Plan.Graph.Node(id)
	facts := [][]string{{"address", n.Addr}, {"kind", n.Kind}}
	for _, l := range n.Labels {
		if l.Name != "kind" {
			facts = append(facts, []string{l.Name, l.Value})
		}
	}
	for _, d := range n.Deps {
		facts = append(facts, []string{"needs", p.Plan.Graph.Node(d.On).Addr})
	}
	last, ok := p.LastAnswer(n.Addr)
	if !ok {
		return append(facts, []string{"last answer", "none"})
	}
	facts = append(facts, []string{"last answer", fmt.Sprintf("%s in run %s, %s", last.Class, last.Run, view.Duration(last.Seconds))}, []string{"key", last.Key.String()})
	if last.Message != "" {
		facts = append(facts, []string{"message", last.Message})
	}
	if last.Broken != "" {
		facts = append(facts, []string{"last attempt", "broken: " + last.Broken})
	}
	for _, o := range last.Outputs {
		facts = append(facts, []string{"output " + o.Name, o.Digest.String()})
	}
	return facts
}
