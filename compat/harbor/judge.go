package harbor

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// judge fills in what is said of a trial and of its steps.
func (j *job) judge(ctx context.Context, one exported, source *trial, t *trialResult) error {
	listed := one.result.Listed()
	ended := t.StartedAt
	stepped := source != nil && len(source.Steps) > 0 || source == nil && len(listed) > 1
	for i := range listed {
		c := &listed[i]
		var recorded *outcome
		if source != nil {
			recorded = &source.outcome
			if stepped {
				recorded = nil
				if s := source.step(c.Name); s != nil {
					recorded = &s.outcome
				}
			}
		}
		if c.Class == verdict.NotReached || c.Class == verdict.NotRun {
			continue // Harbor has no entry for a step that was not begun
		}
		from := ended
		ended = later(ended, c.DurationMS)
		left, err := j.writeJudged(ctx, one.cell, c.Name, t.TrialName, stepped)
		if err != nil {
			return err
		}
		said := judgementOf(left, c, recorded, span{from, ended})
		if stepped {
			t.Steps = append(t.Steps, stepJudgement{c.Name, said})
		} else {
			t.judgement = said
		}
	}
	t.FinishedAt = ended
	if source != nil {
		t.FinishedAt = max(ended, source.FinishedAt)
	}
	switch {
	case stepped:
		t.AgentResult = nil
		t.sumUp(source != nil && one.result.Recorded != nil && one.result.Recorded.Last)
		if source != nil && t.Exception == nil && source.Exception != nil {
			t.Exception = source.Exception
		}
	case t.Verifier == nil && t.Exception == nil: // nothing of it was reached
		t.Exception = &exception{Type: notRegraded, Message: "it reached no checkpoint", OccurredAt: t.FinishedAt}
	}
	return nil
}

// writeJudged returns what the verifier of a checkpoint left, and writes what it judged.
func (j *job) writeJudged(ctx context.Context, cell *plan.Cell, name, trial string, stepped bool) (left plan.VerifierOutput, err error) {
	for i := range cell.Checkpoints {
		cc := &cell.Checkpoints[i]
		if cc.Checkpoint.Name != name || cc.Checkpoint.Verifier == nil {
			continue
		}
		if left, err = j.e.Plan.VerifierOutput(ctx, j.e.Store, j.e.Run, cc); err != nil {
			return left, err
		}
		if !stepped {
			name = ""
		}
		return left, j.collected(ctx, cell, cc, trial, name)
	}
	return left, nil
}

// later returns a time, moved by some milliseconds. An empty or malformed time is returned unchanged.
func later(at string, ms float64) string {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if when, err := time.Parse(form, at); err == nil {
			return when.Add(time.Duration(ms * float64(time.Millisecond))).Format("2006-01-02T15:04:05.000000Z07:00")
		}
	}
	return at
}

// judgementOf returns a verdict in Harbor's terms. If the agent itself ended abnormally in the source, that
// is kept. A checkpoint without a verdict is an exception, and has no rewards.
func judgementOf(left plan.VerifierOutput, c *report.Checkpoint, source *outcome, at span) judgement {
	said := judgement{Verified: &at, left: left}
	if source != nil {
		said.AgentResult = source.AgentResult
		if source.Exception != nil && failureOf(source.Exception.Type).own {
			said.Exception = source.Exception
		}
	}
	if kind := exceptionName(c, left); kind != "" {
		said.Exception = &exception{Type: kind, Message: messageOf(c), OccurredAt: at.FinishedAt}
		return said
	}
	said.Verifier = &rewards{map[string]float64{}}
	switch {
	case left.Rewards != nil:
		said.Verifier.Rewards = left.Rewards
	case c.Score != nil: // of 100
		said.Verifier.Rewards["reward"] = *c.Score / 100
	case c.Ruled() && c.Passed:
		said.Verifier.Rewards["reward"] = 1
	default:
		said.Verifier.Rewards["reward"] = 0
	}
	return said
}

func messageOf(c *report.Checkpoint) string {
	if c.Message != nil {
		return *c.Message
	}
	return string(c.Class)
}

// sumUp fills in the rewards of a trial with steps: those of the last step, or the mean of
// each over the steps that have rewards.
func (t *trialResult) sumUp(last bool) {
	if n := len(t.Steps); last {
		if n > 0 && t.Steps[n-1].Verifier != nil {
			t.Verifier = t.Steps[n-1].Verifier
		}
		return
	}
	values, n := map[string][]float64{}, 0
	for _, s := range t.Steps {
		if s.Verifier == nil {
			continue
		}
		n++
		for name, value := range s.Verifier.Rewards {
			values[name] = append(values[name], value)
		}
	}
	if n == 0 {
		return
	}
	means := map[string]float64{}
	for name, of := range values {
		means[name] = statistics.Mean(append(of, make([]float64, n-len(of))...)) // a missing reward counts as 0
	}
	t.Verifier = &rewards{means}
}

// verified writes the directory of a trial's verifier, or of a step's: what the script left
// there, and its output.
func (j *job) verified(ctx context.Context, trial, step string, said *judgement) error {
	dir := filepath.Join(j.dir, trial, "verifier")
	if step != "" {
		dir = filepath.Join(j.dir, trial, "steps", fileName(step), "verifier")
	}
	if said.Verifier == nil {
		return nil
	}
	rewards, err := encode(said.Verifier.Rewards)
	if err == nil {
		err = j.out.Write(filepath.Join(dir, "reward.json"), rewards)
	}
	if err != nil || said.left.Rewards == nil {
		return err
	}
	log, err := cache.ReadBlob(ctx, j.e.Store, said.left.Log, -1)
	if err == nil {
		err = j.out.Write(filepath.Join(dir, "test-stdout.txt"), log)
	}
	if err != nil {
		return err
	}
	return cache.WalkTree(ctx, j.e.Store, said.left.Files, func(entry cache.Entry) error {
		if entry.Dir || entry.Link != "" || entry.Path == "reward.json" || entry.Path == "test-stdout.txt" || !filepath.IsLocal(filepath.FromSlash(entry.Path)) {
			return nil // links of hostile scripts lead anywhere
		}
		content, err := cache.ReadBlob(ctx, j.e.Store, entry.Digest, -1)
		if err != nil {
			return err
		}
		return j.out.Write(filepath.Join(dir, filepath.FromSlash(entry.Path)), content)
	})
}

// taskLock names the content of a task.
type taskLock struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Digest string  `json:"digest"`
	Source *string `json:"source,omitempty"`
	Path   string  `json:"path"`
}

// trialLock is lock.json of a trial.
type trialLock struct {
	Schema      int          `json:"schema_version"`
	Task        taskLock     `json:"task"`
	Agent       agentName    `json:"agent"`
	Environment struct{}     `json:"environment"`
	Verifier    struct{}     `json:"verifier"`
	Source      *sourceTrial `json:"source_trial,omitempty"`
}

// lock writes the lock of a trial whose task is a directory with a digest.
func (j *job) lock(one exported, t *trialResult) error {
	dir := one.cell.Problem.ReadFrom
	digest, known := j.digests[dir]
	if !known && dir != "" {
		var err error
		if digest, err = taskDigest(os.DirFS(dir)); err != nil {
			return err
		}
		j.digests[dir] = digest
	}
	if digest == "" {
		return nil
	}
	text := encoded(trialLock{Schema: 2, Task: taskLock{Name: filepath.Base(dir), Type: "local", Digest: digest, Source: t.Source, Path: dir}, Agent: t.Config.Agent, Source: t.Config.Source})
	j.locks = append(j.locks, text)
	return j.put(text, t.TrialName, "lock.json")
}
