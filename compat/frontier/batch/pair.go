package batch

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// Pair names a solution to a problem.
type Pair struct {
	Solution string // "symbolic_regression/peaks/gpt5_1.py"
	Problem  string // "symbolic_regression/peaks"
}

// ID returns the name of the pair in batches.
func (p Pair) ID() string { return p.Solution + ":" + p.Problem }

// ParsePair reads an ID. The first colon ends the solution.
func ParsePair(id string) (Pair, error) {
	solution, problem, ok := strings.Cut(id, ":")
	if solution, problem = strings.TrimSpace(solution), strings.TrimSpace(problem); ok && solution != "" && problem != "" {
		return Pair{solution, problem}, nil
	}
	return Pair{}, fmt.Errorf("%q is not a pair: want SOLUTION:PROBLEM", id)
}

// Name returns the solution's file without directories and extension: "gpt5_1".
func (p Pair) Name() string {
	name := path.Base(p.Solution)
	if stem := strings.TrimSuffix(name, path.Ext(name)); stem != "" {
		return stem
	}
	return name
}

// Model returns the name without the number of the attempt: "gpt5".
func (p Pair) Model() string {
	name := p.Name()
	i := strings.LastIndexByte(name, '_')
	if i < 0 || i+1 == len(name) {
		return name
	}
	for _, r := range name[i+1:] {
		if !unicode.IsDigit(r) {
			return name
		}
	}
	return name[:i]
}
