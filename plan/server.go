package plan

import (
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// submitted adds the node that hands the solution in to a judge server and
// returns the one that gives the score. Submissions to one server follow each
// other: it judges each as if the machine were its alone.
func (j *judging) submitted(cc *CellCheckpoint, policy verdict.Rule) graph.Node {
	language, _ := j.language()
	task := judge.Submit{Problem: j.cell.Problem.Name, Language: language, Repeat: j.cell.Repeat, Server: j.server}
	score := judge.Score{Weights: j.judge.Weights, Policy: policy}
	files := []tasks.Named{{Name: "checker", Abs: j.judge.Checker}}
	for _, s := range j.judge.Subtasks {
		sub := judge.Subtask{Score: s.Score}
		for i := range s.Cases {
			one := &s.Cases[i]
			task.Cases = append(task.Cases, one.Time)
			sub.Cases = append(sub.Cases, j.caseName(one))
			files = append(files, tasks.Named{Name: "case " + one.Name + ", input", Abs: one.Input})
			if one.Output != "" {
				files = append(files, tasks.Named{Name: "case " + one.Name + ", answer", Abs: one.Output})
			}
		}
		score.Subtasks = append(score.Subtasks, sub)
	}
	var dirs []tasks.Named
	for _, dir := range j.judge.Include {
		dirs = append(dirs, tasks.Named{Name: "include", Abs: dir})
	}
	n := j.node(KindSubmit, usable(j.answer, judge.NewSubmit(task, j.answer.Source, files, dirs, j.submissionSources(address(KindSubmit, j.cell.Problem.Name, j.cell.Name()), j.cell.Solution))), nil)
	n.Exclusive = []string{"judge server " + j.server.Name()}
	id := j.plan.Graph.Add(n)
	cc.Own = append(cc.Own, id)
	return j.node(KindScore, &judge.Graded{Score: score},
		[]graph.Dep{{On: id, As: judge.FromServer, Outputs: []string{judge.OutputGrade, judge.OutputMeasure}}})
}
