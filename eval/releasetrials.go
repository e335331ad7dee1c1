package eval

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/release"
	"github.com/fevalgraph/fevalgraph/lang"
)

// trials classifies the recorded solutions of the old version.
func (c *comparison) trials(problems []release.Problem) (all []release.Trial) {
	now := map[string]*lang.Solution{}
	for _, s := range c.new.cfg.Solutions {
		now[s.Ref] = s
	}
	for _, s := range c.old.cfg.Solutions {
		if s.Recorded == nil {
			continue
		}
		at := slices.IndexFunc(problems, func(p release.Problem) bool { return p.Name == s.Problem.Name })
		t := release.Trial{Name: s.Name, Problem: s.Problem.Name, Class: release.Removed}
		if s.Recorded.Comparable {
			t.Before = s.Recorded.Score
		}
		if at >= 0 && problems[at].Class != release.Removed {
			t.Class, t.Why = classOf(&problems[at], s, now[s.Ref])
		}
		for _, l := range s.Labels {
			switch l.Name {
			case "agent":
				t.Agent = l.Value
			case "model":
				t.Model = l.Value
			case "cost":
				if cost, err := strconv.ParseFloat(l.Value, 64); err == nil {
					t.Cost = &cost
				}
			}
		}
		all = append(all, t)
	}
	return all
}

// classOf returns the class of a solution of the old version, and why; now is the same record for the new one, or nil.
func classOf(p *release.Problem, s, now *lang.Solution) (release.Class, string) {
	class := release.Reuse
	for _, one := range p.Checkpoints {
		at := slices.IndexFunc(s.Checkpoints, func(a lang.SolutionCheckpoint) bool { return a.Checkpoint.Name == one.Name })
		if at < 0 || !s.Checkpoints[at].Missing {
			class = release.Worse(class, one.Class.OfWhole())
		}
	}
	switch {
	case now != nil && now.Recorded != nil && now.Recorded.Version != "" && now.Recorded.VersionHere == "" && s.Recorded.VersionHere != "":
		return release.Reuse, "it ran the new version"
	case s.Recorded.VersionHere != "":
		return release.Rerun, "it ran another version than the old one"
	case class == release.Regrade && now != nil:
		for _, answer := range now.Checkpoints {
			if answer.Unusable != "" {
				return release.Rerun, strings.ReplaceAll(answer.Unusable, "\n", ", ")
			}
		}
	}
	return class, ""
}
