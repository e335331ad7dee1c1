package validate

import (
	"os"

	"github.com/fevalgraph/fevalgraph/lang"
)

// Coverage lists the expected solutions of a problem that are not usable. All
// others are present.
type Coverage struct {
	Problem  string   `json:"problem"`
	Expected int      `json:"expected"`
	Present  int      `json:"present"`
	Missing  []string `json:"missing"` // no file or, with pairs, no such solution
	Failed   []string `json:"failed"`  // the configuration marks it as failed
	Empty    []string `json:"empty"`   // a file without a byte
}

// Cover returns the coverage of each problem with expected solutions, in the order of the
// configuration.
func Cover(cfg *lang.Config, expected *lang.Paired) []*Coverage {
	at := map[*lang.Problem]*Coverage{}
	of := func(problem *lang.Problem) *Coverage {
		if at[problem] == nil {
			at[problem] = &Coverage{Problem: problem.Name, Missing: []string{}, Failed: []string{}, Empty: []string{}}
		}
		at[problem].Expected++
		return at[problem]
	}
	for _, s := range expected.Solutions {
		c := of(s.Problem)
		switch {
		case s.Failed != "":
			c.Failed = append(c.Failed, s.Name)
		case lacksCode(s):
			c.Missing = append(c.Missing, s.Name)
		case isEmpty(s):
			c.Empty = append(c.Empty, s.Name)
		default:
			c.Present++
		}
	}
	for _, lack := range expected.Lacking {
		c := of(lack.Problem)
		c.Missing = append(c.Missing, lack.Solution)
	}
	all := []*Coverage{}
	for _, problem := range cfg.Problems {
		if c := at[problem]; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// lacksCode reports whether a solution lacks code for all checkpoints.
func lacksCode(s *lang.Solution) bool {
	for _, c := range s.Checkpoints {
		if !c.Missing {
			return false
		}
	}
	return len(s.Checkpoints) > 0
}

// isEmpty reports whether a solution consists of empty files.
func isEmpty(s *lang.Solution) bool {
	for _, c := range s.Checkpoints {
		if c.Missing {
			continue
		}
		if info, err := os.Stat(c.Source); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
			return false
		}
	}
	return len(s.Checkpoints) > 0
}
