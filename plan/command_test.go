package plan

import (
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
)

// The language and package score have the same names for sources of a score.
func TestScoreSources(t *testing.T) {
	for _, block := range lang.Schema(lang.Extensions{}) {
		if block.Name != "problem" {
			continue
		}
		for _, driver := range block.Blocks {
			if driver.Name != "command" {
				continue
			}
			for _, a := range driver.Blocks[0].Attributes {
				switch {
				case a.Name == "from" && !slices.Equal(a.Values, score.Sources()):
					t.Errorf("from is one of %v, want %v", a.Values, score.Sources())
				case a.Name == "compat" && !slices.Equal(a.Values, []string{"safe", "frontier"}):
					t.Errorf("compat is one of %v", a.Values)
				}
			}
			return
		}
	}
	t.Fatal("the language lacks the command block")
}
