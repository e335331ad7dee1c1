package verifier

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// From is the name of Score's dependency, a Run.
const From = "verifier"

// Outputs returns the outputs of a Run that Score reads.
func Outputs() []string { return []string{OutputExit, OutputTiming, OutputRewards, OutputCTRF} }

// Score is the task that converts the outputs of a Run to a verdict. Its outputs are those of
// tasks.PutGraded.
type Score struct {
	Checkpoint string
	Reward     string // name of the reward that is the score
	Policy     verdict.Rule
}

// Describe implements graph.Task.
func (s *Score) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 2) // 2: the stored form omits empty fields
	m.String("checkpoint", s.Checkpoint)
	m.String("reward", s.Reward)
	m.String("pass", s.Policy.Text())
	return nil
}

// Run implements graph.Task.
func (s *Score) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var exit Exit
	var took session.Timing
	for name, into := range map[string]any{OutputExit: &exit, OutputTiming: &took} {
		if err := session.ReadInputJSON(ctx, w, From, name, into); err != nil {
			return graph.Outcome{}, err
		}
	}
	c := &verdict.Checkpoint{Name: s.Checkpoint, Class: verdict.Judged, ExitCode: &exit.Code, Tests: []verdict.Test{}}
	m := &verdict.Measurements{DurationMS: took.Seconds * 1000, Isolation: took.Isolation, Tests: []verdict.TestMeasurement{}}
	switch {
	case exit.TimedOut:
		c.Class, m.Message = verdict.SessionTimeout, limitMessage(time.Duration(exit.Limit*float64(time.Second)))
	case exit.Unjudged != "":
		c.Class, m.Message = verdict.NoScore, exit.Unjudged
	default:
		if err := s.read(ctx, w, c, m); err != nil {
			return graph.Outcome{}, err
		}
	}
	if exit.MemoryLimit > 0 && m.Message == "" {
		m.Message = session.OutOfMemory(exit.MemoryLimit)
	}
	if err := tasks.Grade(c, s.Policy); err != nil {
		return graph.Outcome{}, err
	}
	return tasks.PutGraded(ctx, w.Store, c, m)
}

// read finds the score and the tests.
func (s *Score) read(ctx context.Context, w *graph.Work, c *verdict.Checkpoint, m *verdict.Measurements) error {
	var rewards map[string]any
	if err := session.ReadInputJSON(ctx, w, From, OutputRewards, &rewards); err != nil {
		return err
	}
	value, ok := rewards[s.Reward]
	if !ok {
		return Unusable.errorf("no reward is named %q; %s", s.Reward, others(rewards))
	}
	names := slices.Sorted(maps.Keys(rewards))
	var score float64
	switch value := value.(type) {
	case float64:
		score = value
	case bool:
		return Unusable.errorf("%s: %q is a bool, not a number", rewardJSON, s.Reward)
	default: // stored for a reward with another name
		return Unusable.errorf("%s: %q is not a finite number: %v", rewardJSON, s.Reward, value)
	}
	c.Score = verdict.NewScore(score, score)
	if len(names) > 1 { // other rewards are only shown
		parts := make([]string, len(names))
		for i, name := range names {
			parts[i] = fmt.Sprint(name, " ", rewards[name])
			if n, ok := rewards[name].(float64); ok {
				parts[i] = name + " " + strconv.FormatFloat(n, 'g', 6, 64)
			}
		}
		m.Message = strings.Join(parts, ", ")
	}
	if _, ok := w.Input(From, OutputCTRF); !ok {
		return nil
	}
	var report ctrf
	if err := session.ReadInputJSON(ctx, w, From, OutputCTRF, &report); err != nil {
		w.Note(fmt.Sprintf("ctrf.json is not shown: %v", err))
		return nil
	}
	c.Tests, m.Tests = report.tests(s.Checkpoint)
	c.Collected = len(c.Tests)
	return nil
}

// others lists the rewards, and explains how one of them becomes the score. A script can leave thousands,
// and names of any length.
func others(rewards map[string]any) string {
	const most, long = 8, 40
	var shown []string
	of := "KEY"
	for _, name := range slices.Sorted(maps.Keys(rewards)) {
		quoted := strconv.Quote(name)
		if runes := []rune(name); len(runes) > long {
			quoted = strconv.Quote(string(runes[:long]) + "…")
		} else if _, ok := rewards[name].(float64); ok && of == "KEY" && quoted == `"`+name+`"` {
			of = name
		}
		if shown = append(shown, quoted); len(shown) == most && len(rewards) > most {
			shown = append(shown, fmt.Sprintf("and %d more", len(rewards)-most))
			break
		}
	}
	return fmt.Sprintf("found %s; select the score with verifier { reward = %q }", strings.Join(shown, ", "), of)
}

// Refused implements graph.Refuser.
func (s *Score) Refused(ctx context.Context, w *graph.Work, why string) (graph.Outcome, error) {
	return tasks.PutRefused(ctx, w.Store, s.Checkpoint, s.Policy, why)
}

// ctrf contains the parts of a report in the Common Test Report Format that are read here.
type ctrf struct {
	Results struct {
		Tests []struct {
			Name     string  `json:"name"`
			Status   string  `json:"status"`
			Duration float64 `json:"duration"` // milliseconds
			FilePath string  `json:"filePath"`
			Message  string  `json:"message"`
		} `json:"tests"`
	} `json:"results"`
}

const maxTests = 100_000

// tests returns the tests of a report. Equal names get numbers: reports can merge the cases of a
// parametrized test.
func (r *ctrf) tests(checkpoint string) (tests []verdict.Test, measured []verdict.TestMeasurement) {
	tests, measured = []verdict.Test{}, []verdict.TestMeasurement{}
	met := map[string]int{}
	for _, t := range r.Results.Tests {
		if len(tests) == maxTests {
			break
		}
		status := verdict.TestError
		switch t.Status {
		case "passed":
			status = verdict.TestPassed
		case "failed":
			status = verdict.TestFailed
		case "skipped", "pending":
			status = verdict.TestSkipped
		}
		id := t.Name
		if met[id]++; met[id] > 1 {
			id += fmt.Sprintf(" #%d", met[id])
		}
		tests = append(tests, verdict.Test{ID: id, File: t.FilePath, Checkpoint: checkpoint, Group: verdict.Core, Status: status})
		measured = append(measured, verdict.TestMeasurement{DurationMS: t.Duration, Message: t.Message})
	}
	return tests, measured
}
