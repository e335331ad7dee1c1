package plan

import (
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// addSubmission adds the node that submits the solution to a judge server and returns the node that computes
// the score. Submissions to a server run one after another, since it judges each as if it had the machine
// to itself.
func (j *judging) addSubmission(cc *CellCheckpoint, policy verdict.Rule) graph.Node {
	language, _ := j.language()
	task := judge.Submit{Problem: j.cell.Problem.Name, Language: language, Repeat: j.cell.Repeat, Server: j.server}
	score := judge.Score{Weights: j.judge.Weights, Policy: policy}
	in := j.checkerFiles("include", "checker")
	for _, s := range j.judge.Subtasks {
		sub := judge.Subtask{Score: s.Score}
		for i := range s.Cases {
			one := &s.Cases[i]
			task.Cases = append(task.Cases, one.Time)
			sub.Cases = append(sub.Cases, j.caseName(one))
			in.file("case "+one.Name+", input", one.Input, j.data())
			if one.Output != "" {
				in.file("case "+one.Name+", answer", one.Output, j.data())
			}
		}
		score.Subtasks = append(score.Subtasks, sub)
	}
	code, addr := j.code(language.Filename), address(KindSubmit, j.cell.Problem.Name, j.cell.Name())
	task.Source, task.Files = code.of(j.submissionSources(addr, j.cell.Solution)), in.of(j.sourcesOf(addr))
	n := j.node(KindSubmit, usableTask(j.answer, &task), append(code.deps, in.deps...))
	n.Exclusive = []string{"judge server " + j.server.Name()}
	id := j.plan.Graph.Add(n)
	cc.Own = append(cc.Own, id)
	return j.node(KindScore, &judge.Graded{Score: score},
		[]graph.Dep{{On: id, As: judge.FromServer, Outputs: []string{judge.OutputGrade, judge.OutputMeasure}}})
}
