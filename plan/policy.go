package plan

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// policyOf returns the rule of a pass block.
func policyOf(p lang.Pass) tasks.Policy {
	if p.When != nil {
		return conditionPolicy{p.When}
	}
	return namedPolicy(p.Policy)
}

// namedPolicy is one of report's policies.
type namedPolicy string

func (p namedPolicy) Text() string { return string(p) }

func (p namedPolicy) Passes(c *report.Checkpoint) (bool, error) {
	return report.Policy(p).Passes(c), nil
}

// conditionPolicy is a when expression. Like the named policies, it never
// passes a checkpoint that was not judged.
type conditionPolicy struct{ when *lang.Expr }

func (p conditionPolicy) Text() string { return "when " + p.when.Source() }

func (p conditionPolicy) Passes(c *report.Checkpoint) (bool, error) {
	if c.Class != report.Judged {
		return false, nil
	}
	if c.ScoreText != "" { // it compares with nothing
		return false, nil
	}
	v, diags := p.when.Eval(checkpointValue(c))
	if diags.HasErrors() {
		return false, diags
	}
	if v.IsNull() || v.Type() != cty.Bool {
		return false, fmt.Errorf("pass.when must be true or false, not %s", v.Type().FriendlyName())
	}
	return v.True(), nil
}

// checkpointValue is a graded checkpoint as expressions see it: self.core.passed
// and so on, and self.total over all groups.
func checkpointValue(c *report.Checkpoint) cty.Value {
	attrs := map[string]cty.Value{
		"name":      cty.StringVal(c.Name),
		"passed":    cty.BoolVal(c.Passed),
		"class":     cty.StringVal(string(c.Class)),
		"collected": cty.NumberIntVal(int64(c.Collected)),
		"exit_code": cty.NullVal(cty.Number),

		"score":           numberOrNull(c.Score),
		"score_unbounded": numberOrNull(c.ScoreUnbounded),
	}
	if c.ExitCode != nil {
		attrs["exit_code"] = cty.NumberIntVal(int64(*c.ExitCode))
	}
	for name, v := range groupValues(c.Groups) {
		attrs[name] = v
	}
	return cty.ObjectVal(attrs)
}

func numberOrNull(n *float64) cty.Value {
	if n == nil {
		return cty.NullVal(cty.Number)
	}
	return cty.NumberFloatVal(*n)
}

func groupValues(groups map[report.Group]report.Count) map[string]cty.Value {
	values := map[string]cty.Value{}
	var all report.Count
	for _, g := range report.Groups {
		n := groups[g]
		all.Passed += n.Passed
		all.Total += n.Total
		values[string(g)] = countValue(n)
	}
	values["total"] = countValue(all)
	return values
}

func countValue(n report.Count) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"passed": cty.NumberIntVal(int64(n.Passed)),
		"total":  cty.NumberIntVal(int64(n.Total)),
	})
}
