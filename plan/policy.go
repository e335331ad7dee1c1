package plan

import (
	"fmt"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// RuleOf returns the rule of a pass block.
func RuleOf(p lang.Pass) verdict.Rule {
	switch {
	case p.When != nil:
		return condition{p.When}
	case p.AtLeast != nil:
		return atLeast(*p.AtLeast)
	}
	return verdict.Policy(p.Policy)
}

// condition is a Rule with a when expression. Like the named policies, it never passes a checkpoint that
// was not judged.
type condition struct{ when *lang.Expr }

func (p condition) Text() string { return "when " + p.when.Source() }

func (p condition) Passes(c *verdict.Checkpoint) (bool, error) {
	if c.Class != verdict.Judged {
		return false, nil
	}
	if c.Score.BoundedText != "" { // it contains no comparison
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

// atLeast is a Rule that passes judged checkpoints with at least this score.
type atLeast float64

func (a atLeast) Text() string {
	return "when self.score >= " + strconv.FormatFloat(float64(a), 'g', -1, 64)
}

func (a atLeast) Passes(c *verdict.Checkpoint) (bool, error) {
	return c.Class == verdict.Judged && c.Score.Bounded != nil && *c.Score.Bounded >= float64(a), nil
}

// checkpointValue returns the value of a graded checkpoint in expressions: self.core.passed and so on, and
// self.total over all groups.
func checkpointValue(c *verdict.Checkpoint) cty.Value {
	attrs := map[string]cty.Value{
		"name":      cty.StringVal(c.Name),
		"passed":    cty.BoolVal(c.Passed),
		"class":     cty.StringVal(string(c.Class)),
		"collected": cty.NumberIntVal(int64(c.Collected)),
		"exit_code": cty.NullVal(cty.Number),

		"score":           numberOrNull(c.Score.Bounded),
		"score_unbounded": numberOrNull(c.Score.Unbounded),
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

func groupValues(groups verdict.GroupCounts) map[string]cty.Value {
	values := map[string]cty.Value{"total": countValue(groups.Sum(verdict.Groups[:]...))}
	for _, g := range verdict.Groups {
		values[string(g)] = countValue(groups[g])
	}
	return values
}

func countValue(n verdict.Count) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"passed": cty.NumberIntVal(int64(n.Passed)),
		"total":  cty.NumberIntVal(int64(n.Total)),
	})
}
