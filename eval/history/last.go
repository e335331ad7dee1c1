package history

import (
	"errors"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Last holds the last recorded results of checkpoints and tasks. They can be for other inputs: they are only shown with
// a stale checkpoint or task, and never count as its verdict.
type Last struct {
	Checkpoints map[plan.CellID]LastCheckpoint
	Tasks       map[string]report.Task // by name, with their runs
	Runs        map[string]bool        // the runs of these results, and unreadable or unproven ones, which can contain one
	Damaged     *event.DamagedError    // nil if no record is damaged
}

// LastCheckpoint is the last recorded result of a checkpoint.
type LastCheckpoint struct {
	report.Checkpoint
	Run string // run that judged it last, or served its verdict
}

// FindLast searches runs, given in order from the latest, until it has found all of some checkpoints and tasks, which it
// deletes from the maps. Nil means all that are recorded. It ignores what an interrupted run did not begin.
func FindLast(state event.Records, ids []string, checkpoints map[plan.CellID]bool, tasks map[string]bool) *Last {
	last, files := &Last{Checkpoints: map[plan.CellID]LastCheckpoint{}, Tasks: map[string]report.Task{}, Runs: map[string]bool{}}, map[string]bool{}
	for _, id := range ids {
		run := event.OpenRun(state, id)
		var errs [2]error
		if checkpoints == nil || len(checkpoints) > 0 {
			errs[0] = last.addCells(state, run, files, checkpoints)
		}
		if tasks == nil || len(tasks) > 0 {
			errs[1] = last.addTasks(run, tasks)
		}
		if err := errors.Join(errs[:]...); err != nil && !errors.Is(err, errNoResults) {
			errors.As(err, &last.Damaged)
			last.Runs[id] = true
		}
	}
	return last
}

// addCells adds results of a run for checkpoints that have none yet, and deletes these from missing.
func (l *Last) addCells(state event.Records, run *event.Run, files map[string]bool, missing map[plan.CellID]bool) error {
	cells, err := Cells(state, run, files)
	if err != nil {
		return err
	}
	end, ended, err := run.End()
	interrupted := err != nil || !ended || end.Interrupted > 0
	for i := range cells {
		for _, c := range cells[i].Listed() {
			of := plan.ResultCell(&cells[i]).At(c.Name)
			if _, known := l.Checkpoints[of]; !known && !(interrupted && c.Class == verdict.NotRun) {
				l.Checkpoints[of], l.Runs[run.ID] = LastCheckpoint{c, run.ID}, true
				delete(missing, of)
			}
		}
	}
	return nil
}

// addTasks adds results of a run for tasks that have none yet, and deletes these from missing.
func (l *Last) addTasks(run *event.Run, missing map[string]bool) error {
	tasks, err := Tasks(run)
	for _, t := range tasks {
		if _, known := l.Tasks[t.Name]; !known && t.Outcome != string(event.Interrupted) {
			if t.Run == "" {
				t.Run = run.ID
			}
			l.Tasks[t.Name], l.Runs[run.ID] = t, true
			delete(missing, t.Name)
		}
	}
	return err
}
