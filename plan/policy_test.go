package plan

import (
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// The language must not import the package of policies, so it duplicates their names: all of them, and the same
// default.
func TestPoliciesOfTheLanguage(t *testing.T) {
	var names []string
	for _, p := range verdict.Policies() {
		names = append(names, string(p))
	}
	found := 0
	var walk func([]lang.BlockSchema)
	walk = func(blocks []lang.BlockSchema) {
		for _, b := range blocks {
			for _, a := range b.Attributes {
				if b.Name == "pass" && a.Name == "policy" {
					found++
					if !slices.Equal(a.Values, names) {
						t.Errorf("the language knows %v, reports %v", a.Values, names)
					}
				}
			}
			walk(b.Blocks)
		}
	}
	walk(lang.Schema(lang.Extensions{}))
	if found == 0 {
		t.Error("the language lacks policies")
	}
	p := newProject(t, problem)
	for _, cp := range p.plan.Config.Problems[0].Checkpoints {
		if got := RuleOf(cp.Pass).Text(); got != string(verdict.DefaultPolicy) {
			t.Errorf("%s passes by %s without a pass block", cp.Name, got)
		}
	}
}
