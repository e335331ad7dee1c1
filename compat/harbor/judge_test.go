package harbor

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// A cell without a verdict is an exception with Harbor's name, and has no rewards; a failure of the solution is a
// reward of 0.
func TestJudgements(t *testing.T) {
	score := 50.0
	rewards := map[string]float64{"reward": 0.25, "all": 1}
	for name, try := range map[string]struct {
		c    report.Checkpoint
		left plan.VerifierOutput
		kind string
		want float64
	}{
		"rewards":      {report.Checkpoint{Class: verdict.Judged, Score: &score}, plan.VerifierOutput{Rewards: rewards}, "", 0.25},
		"score":        {report.Checkpoint{Class: verdict.Judged, Score: &score, Policy: "none"}, plan.VerifierOutput{}, "", 0.5},
		"passed":       {report.Checkpoint{Class: verdict.Judged, Passed: true, Policy: "all-cases"}, plan.VerifierOutput{}, "", 1},
		"failed":       {report.Checkpoint{Class: verdict.Judged, Policy: "all-cases"}, plan.VerifierOutput{}, "", 0},
		"refused":      {report.Checkpoint{Class: verdict.Refused}, plan.VerifierOutput{}, "", 0},
		"collection":   {report.Checkpoint{Class: verdict.CollectionError}, plan.VerifierOutput{}, "", 0},
		"limit":        {report.Checkpoint{Class: verdict.SessionTimeout}, plan.VerifierOutput{}, "VerifierTimeoutError", 0},
		"input":        {report.Checkpoint{Class: verdict.InputError}, plan.VerifierOutput{}, "RegradeError", 0},
		"no score":     {report.Checkpoint{Class: verdict.NoScore}, plan.VerifierOutput{}, "RewardFileNotFoundError", 0},
		"none":         {brokenBy("missing"), plan.VerifierOutput{NoReward: plan.MissingReward}, "RewardFileNotFoundError", 0},
		"empty":        {brokenBy("empty"), plan.VerifierOutput{NoReward: plan.EmptyReward}, "RewardFileEmptyError", 0},
		"bad":          {brokenBy("null"), plan.VerifierOutput{NoReward: plan.UnusableReward}, "VerifierOutputParseError", 0},
		"other reward": {brokenBy("another"), plan.VerifierOutput{Rewards: rewards, NoReward: plan.UnusableReward}, "VerifierOutputParseError", 0},
		"machine":      {brokenBy("starting the container: no such image"), plan.VerifierOutput{}, "RuntimeError", 0},
		"checker":      {report.Checkpoint{Class: verdict.CheckerFailed}, plan.VerifierOutput{}, "RuntimeError", 0},
	} {
		for _, ended := range []string{"", "AgentTimeoutError", "HealthcheckError"} {
			source := &outcome{}
			if ended != "" {
				source.Exception = &exception{Type: ended}
			}
			got := judgementOf(try.left, &try.c, source, span{"a", "b"})
			switch {
			case try.kind != "":
				if got.Exception == nil || got.Exception.Type != try.kind || got.Exception.OccurredAt != "b" || got.Verifier != nil {
					t.Errorf("%s after %q: %+v", name, ended, got)
				}
			case got.Verifier == nil || got.Verifier.Rewards["reward"] != try.want:
				t.Errorf("%s after %q: %+v", name, ended, got)
			case (got.Exception != nil) != (ended == "AgentTimeoutError"):
				t.Errorf("%s after %q: %+v", name, ended, got.Exception)
			}
		}
	}
}

func brokenBy(message string) report.Checkpoint {
	return report.Checkpoint{Class: verdict.NotJudged, Message: &message}
}

// The rewards of steps are summed up as Harbor does.
func TestSumOfSteps(t *testing.T) {
	steps := func(all ...map[string]float64) (t trialResult) {
		for _, one := range all {
			s := stepJudgement{}
			if one != nil {
				s.Verifier = &rewards{one}
			}
			t.Steps = append(t.Steps, s)
		}
		return t
	}
	for name, try := range map[string]struct {
		t    trialResult
		last bool
		want map[string]float64
	}{
		"mean":      {steps(map[string]float64{"reward": 1}, map[string]float64{"reward": 0.5, "extra": 2}), false, map[string]float64{"reward": 0.75, "extra": 1}},
		"broken":    {steps(map[string]float64{"reward": 1}, nil), false, map[string]float64{"reward": 1}},
		"none":      {steps(nil), false, nil},
		"last":      {steps(map[string]float64{"reward": 1}, map[string]float64{"reward": 0}), true, map[string]float64{"reward": 0}},
		"last none": {steps(map[string]float64{"reward": 1}, nil), true, nil},
	} {
		try.t.sumUp(try.last)
		if got := try.t.Verifier; (got == nil) != (try.want == nil) || got != nil && (got.Rewards["reward"] != try.want["reward"] || got.Rewards["extra"] != try.want["extra"]) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestIDs(t *testing.T) {
	if got := uuid("trial", "a"); got != uuid("trial", "a") || got == uuid("triala") || len(got) != 36 || got[14] != '5' || got[19] < '8' || got[19] > 'b' {
		t.Error(got)
	}
	if got := later("2026-11-01T10:00:00.5", 1500); got != "2026-11-01T10:00:02.000000Z" {
		t.Error(got)
	}
}
