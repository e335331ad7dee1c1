package history

import (
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
)

// Run is one recorded run.
type Run struct {
	Run       string    `json:"run"`
	Start     time.Time `json:"start"`               // zero if the record has no beginning
	Selection string    `json:"selection,omitempty"` // selection as on the command line; "" means everything
	Ended     bool      `json:"ended"`
	Seconds   float64   `json:"seconds"`
	Executed  int       `json:"executed"` // nodes
	Cached    int       `json:"cached"`
	Exit      int       `json:"exit"`
	Verdicts  string    `json:"verdicts"` // "2 cells, 6 checkpoints: 4 passed, 2 failed"; "" without results
}

// Runs lists the recorded runs of a project, except unproven ones, the latest first, at most limit; 0 means no
// limit.
func Runs(state event.Records, limit int) ([]Run, error) {
	ids, err := event.Runs(state)
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if len(ids) == 0 {
		return nil, exit.Past(event.ErrNoRuns)
	}
	all := []Run{}
	for _, id := range slices.Backward(ids) {
		if limit > 0 && len(all) == limit {
			break
		}
		run := event.OpenRun(state, id)
		if run.Foreign() {
			continue
		}
		s := Run{Run: id}
		if start, ok := run.Start(); ok {
			s.Start, s.Selection = start.Time, start.Selection
		}
		if end, ok, err := run.End(); err == nil && ok {
			s.Ended, s.Seconds, s.Executed, s.Cached, s.Exit, s.Verdicts = true, end.Seconds, end.Executed, end.Cached, end.Exit, end.Verdicts
		}
		all = append(all, s)
	}
	return all, nil
}
