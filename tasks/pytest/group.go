package pytest

import (
	"path"
	"slices"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// reportedTest is a test in the plugin's report.
type reportedTest struct {
	verdict.Test
	verdict.TestMeasurement
	keywords []string // nearest decorator first
	passed   [3]bool  // by stage
	seconds  [3]float64
	found    findings
	earlier  findings // before the last attempt
}

// findings keep a test from passing.
type findings struct {
	status             verdict.TestStatus
	message            string
	failures, timeouts int // of stages and subtests
}

// Grouping decides the group of every test of a checkpoint.
type Grouping struct {
	Checkpoint string
	// Files maps the names of test files to their checkpoints; the checkpoint of
	// other files follows from their names.
	Files map[string]string
	// Custom maps marker names to groups.
	Custom map[string]verdict.Group
}

var checkpointInName = lazyregexp.New(`test_([^/]+)\.py`)

// checkpointOf returns the checkpoint whose test file is the given one. Other
// files belong to the judged checkpoint.
func (g *Grouping) checkpointOf(file string) string {
	if checkpoint, ok := g.Files[path.Base(file)]; ok {
		return checkpoint
	}
	if m := checkpointInName().FindStringSubmatch(file); m != nil {
		return m[1]
	}
	return g.Checkpoint
}

// group returns the group of a test; the first matching rule decides: another
// checkpoint's test is a regression test regardless of its markers, then the
// error and regression markers, then custom markers in the order of the
// keywords, then functionality.
func (g *Grouping) group(checkpoint string, keywords []string) verdict.Group {
	switch {
	case checkpoint != g.Checkpoint:
		return verdict.Regression
	case slices.Contains(keywords, "error"):
		return verdict.ErrorGroup
	case slices.Contains(keywords, "regression"):
		return verdict.Regression
	}
	for _, keyword := range keywords {
		if group, ok := g.Custom[keyword]; ok {
			return group
		}
	}
	if slices.Contains(keywords, "functionality") {
		return verdict.Functionality
	}
	return verdict.Core
}
