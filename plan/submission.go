package plan

import (
	"errors"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// submission adds the node with a solution's code for a checkpoint, shared by backends and repeats, and by
// all checkpoints if the solution has a single source.
func (c *compiler) submission(s *lang.Solution, answer lang.SolutionCheckpoint) graph.ID {
	checkpoint := readFor(s, answer.Checkpoint.Name)
	addr := address(KindSubmission, s.Problem.Name, checkpoint, s.Name)
	labels := append(problemLabels(s.Problem, checkpoint), graph.Label{Name: "solution", Value: s.Name})
	if answer.From != nil {
		sub := submissionOf(s, "")
		return c.place(addr, KindSubmission, labels, answer.From, tasks.Place{Target: sub.Target, Ignore: s.Ignore, Syntax: s.IgnoreSyntax, Plain: sub.Plain})
	}
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindSubmission, Labels: labels,
		Task: usableTask(answer, submissionTask(s, answer, c.submissionSources(addr, s))), Pool: inProcessPool,
	})
}

// readFor returns the checkpoint in the address of the node that reads a solution's code for a checkpoint: "" if that is
// the code for all.
func readFor(s *lang.Solution, checkpoint string) string {
	if singleSource(s) {
		return ""
	}
	return checkpoint
}

// singleSource reports whether all of several checkpoints are answered by the same usable source.
func singleSource(s *lang.Solution) bool {
	first := s.Checkpoints[0]
	return s.Solver == nil && len(s.Checkpoints) > 1 && !slices.ContainsFunc(s.Checkpoints, func(cp lang.SolutionCheckpoint) bool {
		sameOutput := cp.From == first.From || cp.From != nil && first.From != nil && *cp.From == *first.From
		return cp.Source != first.Source || !sameOutput || cp.Parts != nil || cp.Unusable != "" || cp.Refused != ""
	})
}

// submissionTask returns the task that reads the answer to a checkpoint.
func submissionTask(s *lang.Solution, answer lang.SolutionCheckpoint, sources tasks.Sources) graph.Task {
	if answer.Parts == nil {
		return tasks.NewSubmission(submissionOf(s, answer.Source), sources)
	}
	var parts []tasks.Submission
	for _, part := range answer.Parts {
		parts = append(parts, tasks.Submission{Source: part.Source, Target: part.Target, Ignore: ignorePatterns(s), Plain: s.Files == "plain"})
	}
	return tasks.NewParts(parts, sources)
}

// ignorePatterns returns the files that a solution leaves out of its sources.
func ignorePatterns(s *lang.Solution) tasks.Ignore {
	if s.IgnoreSyntax == "fnmatch" {
		return tasks.Fnmatch(s.Ignore)
	}
	return tasks.Doublestar(s.Ignore)
}

func submissionOf(s *lang.Solution, source string) tasks.Submission {
	sub := tasks.Submission{Source: source, Ignore: ignorePatterns(s), Plain: s.Files == "plain"}
	switch {
	case s.Problem.Command != nil:
		sub.Target = s.Problem.Command.Solution
	case s.Problem.Verified:
		sub.Target = strings.TrimPrefix(s.Problem.Solution(), "/")
		if without := excludedPatterns(s.Problem); len(without) > 0 {
			sub.Ignore = tasks.Either(sub.Ignore, tasks.Doublestar(without))
		}
	}
	return sub
}

// submissionSources returns the sources of a node that reads a solution. A defect in a recorded solution
// can be the fault of the program that recorded it, so it is an error, not a failure of the solution.
func (c *compiler) submissionSources(addr string, s *lang.Solution) tasks.Sources {
	sources := c.sourcesOf(addr)
	sources.Submitted, sources.Limits = s.Recorded == nil, tasks.Limits{Bytes: s.Problem.MaxSubmissionSize, Entries: s.Problem.MaxSubmissionFiles}
	return sources
}

// usableTask returns the task that reads an answer or, for an unusable answer, a task that reports why.
func usableTask(answer lang.SolutionCheckpoint, task graph.Task) graph.Task {
	if answer.Unusable != "" {
		return &tasks.Invalid{Reason: errors.New(answer.Unusable)}
	}
	if answer.Refused != "" {
		return &tasks.Unread{Why: answer.Refused}
	}
	return task
}
