package cli

import (
	"os"
	"strconv"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/view"
)

// coverage is which of the expected solutions of a problem are there. Each is
// in one of the lists or present.
type coverage struct {
	Problem  string   `json:"problem"`
	Expected int      `json:"expected"`
	Present  int      `json:"present"`
	Missing  []string `json:"missing"` // no file, or with pairs no such solution
	Failed   []string `json:"failed"`  // the configuration says that making it failed
	Empty    []string `json:"empty"`   // a file without a byte
}

// listCoverage prints the coverage of each problem that anything is expected of:
// the pairs of a file or, without one, the solutions of the configuration.
func (a *app) listCoverage(p *eval.Project, pairs string) error {
	expected := &lang.Paired{Solutions: p.Config.Solutions}
	if pairs != "" {
		var err error
		if expected, err = p.ReadPairs(pairs); err != nil {
			return err
		}
	}
	at := map[*lang.Problem]*coverage{}
	of := func(problem *lang.Problem) *coverage {
		if at[problem] == nil {
			at[problem] = &coverage{Problem: problem.Name, Missing: []string{}, Failed: []string{}, Empty: []string{}}
		}
		at[problem].Expected++
		return at[problem]
	}
	for _, s := range expected.Solutions {
		c := of(s.Problem)
		switch {
		case s.Failed != "":
			c.Failed = append(c.Failed, s.Name)
		case notThere(s):
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
	all, total := []*coverage{}, coverage{Problem: "all"}
	rows := [][]string{}
	add := func(c *coverage, missing, failed, empty int) {
		rows = append(rows, []string{c.Problem, strconv.Itoa(c.Expected), strconv.Itoa(c.Present), strconv.Itoa(missing), strconv.Itoa(failed), strconv.Itoa(empty)})
	}
	missing, failed, empty := 0, 0, 0
	for _, problem := range p.Config.Problems {
		c := at[problem]
		if c == nil {
			continue
		}
		all = append(all, c)
		add(c, len(c.Missing), len(c.Failed), len(c.Empty))
		total.Expected += c.Expected
		total.Present += c.Present
		missing, failed, empty = missing+len(c.Missing), failed+len(c.Failed), empty+len(c.Empty)
	}
	if a.flags.json {
		return a.writeJSON(map[string]any{"schema": 1, "coverage": all})
	}
	add(&total, missing, failed, empty)
	view.Table(a.io.Out, []string{"problem", "expected", "present", "missing", "failed", "empty"}, rows, a.color())
	return nil
}

// notThere reports whether a solution has code for no checkpoint.
func notThere(s *lang.Solution) bool {
	for _, c := range s.Checkpoints {
		if !c.Missing {
			return false
		}
	}
	return len(s.Checkpoints) > 0
}

// isEmpty reports whether all that a solution has are files without a byte.
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
