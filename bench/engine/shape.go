package main

import "fmt"

// shape is the size of a synthetic project.
type shape struct {
	problems, checkpoints, solutions int
}

// Sizes of every problem and solution.
const (
	checkpointsEach = 5
	solutionsEach   = 50
	filesEach       = 4 // of a solution
)

// shapeFor returns the shape with about that many nodes.
func shapeFor(nodes int) shape {
	s := shape{problems: 1, checkpoints: checkpointsEach, solutions: solutionsEach}
	if one := s.nodes(); nodes < one {
		s.solutions = max(1, nodes*solutionsEach/one)
	} else {
		s.problems = max(1, (nodes+one/2)/one)
	}
	return s
}

// nodes returns how many nodes fevalgraph makes: per problem and checkpoint the tests; per solution the
// submission; per checkpoint of a solution pytest, parse and aggregate.
func (s shape) nodes() int { return s.problems * (s.checkpoints + s.solutions*(1+3*s.checkpoints)) }

func (s shape) String() string {
	return fmt.Sprintf("%d problems x %d checkpoints x %d solutions", s.problems, s.checkpoints, s.solutions)
}

func problemName(p int) string    { return fmt.Sprintf("p%04d", p) }
func solutionName(s int) string   { return fmt.Sprintf("s%03d", s) }
func checkpointName(c int) string { return fmt.Sprintf("checkpoint_%d", c+1) }

// sources returns the files of a solution, relative to the project.
func sources(p, s int) []string {
	dir := "solutions/" + problemName(p) + "/" + solutionName(s) + "/"
	names := []string{dir + "main.py"}
	for i := 1; i < filesEach; i++ {
		names = append(names, fmt.Sprintf("%spart%d.py", dir, i))
	}
	return names
}

// testFiles returns the test files of a problem.
func (s shape) testFiles(p int) []string {
	names := []string{"problems/" + problemName(p) + "/tests/conftest.py"}
	for c := range s.checkpoints {
		names = append(names, "problems/"+problemName(p)+"/tests/test_"+checkpointName(c)+".py")
	}
	return names
}

// files returns all source files, in a fixed order.
func (s shape) files() []string {
	var all []string
	for p := range s.problems {
		all = append(all, s.testFiles(p)...)
		for n := range s.solutions {
			all = append(all, sources(p, n)...)
		}
	}
	return all
}
