package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/compare"
	"github.com/fevalgraph/fevalgraph/eval/pages"
	"github.com/fevalgraph/fevalgraph/eval/release"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/page"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// ReleasePage returns a page about a release: its trials are results before and after it.
func ReleasePage(r *release.Release, version string) (*page.Page, error) {
	object, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a release: %w", err)
	}
	old, new, causes := trialResults(r)
	p := pages.OfResults(r.Old+" → "+r.New, version, new, nil)
	d := report.Differ(old, new)
	d.Before, d.After = r.Old, r.New
	for i := range d.Changes {
		c := &d.Changes[i]
		if cause := causes[plan.ResultCell(c.Cell)]; cause != "" {
			c.Causes = []string{cause}
		}
		if c.Is.Class == verdict.NotRun {
			c.Kind = report.ChangeStale
		}
	}
	d.Sort()
	p.Release = object
	p.Runs = []page.Run{{ID: r.Old, Results: old, Ended: true, Difference: d}, {ID: r.New, Results: new, Ended: true, Step: d}}
	return p, nil
}

// trialResults returns the recorded trials as results for the old and the new version, and the causes of differences
// by cell. A trial without a score for the new version was not run there.
func trialResults(r *release.Release) (old, new *report.Results, causes map[plan.CellID]string) {
	const metric = "score"
	problems := map[string]*release.Problem{} // by their names in the old version
	for i := range r.Problems {
		problems[cmp.Or(r.Problems[i].Was, r.Problems[i].Name)] = &r.Problems[i]
	}
	causes = map[plan.CellID]string{}
	var before, after []*plan.Log
	at, attempts := map[string]int{}, map[[2]string]int{}
	for i := range r.Trials {
		t, p := &r.Trials[i], problems[r.Trials[i].Problem]
		if t.Class == release.Removed || p == nil {
			continue
		}
		name := cmp.Or(strings.TrimSpace(t.Agent+" "+t.Model), "unknown")
		k, known := at[name]
		if !known {
			k, at[name] = len(before), len(before)
			labels := map[string]string{}
			for label, value := range map[string]string{"agent": t.Agent, "model": t.Model} {
				if value != "" {
					labels[label] = value
				}
			}
			before, after = append(before, &plan.Log{Name: name, Labels: labels}), append(after, &plan.Log{Name: name, Labels: labels})
		}
		attempts[[2]string{name, p.Name}]++
		attempt := plan.LogAttempt{Problem: p.Name, Repeat: attempts[[2]string{name, p.Name}]}
		cause := cmp.Or(t.Cause, t.Why, p.Cause())
		causes[plan.CellID{Problem: p.Name, Solution: name, Backend: report.ImportedBackend, Repeat: attempt.Repeat}] = cause
		add := func(to *plan.Log, score *float64, missing string) {
			one := attempt
			if one.Class = verdict.Judged; score != nil {
				one.Values = map[string]float64{metric: *score}
			} else {
				one.Class, one.Message = verdict.NotJudged, missing
			}
			to.Attempts = append(to.Attempts, one)
		}
		add(before[k], t.Before, "no score was recorded")
		add(after[k], t.After, strings.TrimSuffix(string(t.Class)+": "+cause, ": "))
	}
	both := compare.OnOneScale(metric, before, after)
	old, new = both[0], both[1]
	old.Run, new.Run = r.Old, r.New
	for i := range new.Cells {
		if c := &new.Cells[i].Checkpoints[0]; c.Class == verdict.NotJudged {
			c.Class, new.Cells[i].Status = verdict.NotRun, verdict.Skipped
		}
	}
	return old, new, causes
}
