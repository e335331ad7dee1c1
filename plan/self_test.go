package plan

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Expressions are checked before a run against the same values that they see after it.
func TestSelfHasItsShape(t *testing.T) {
	c := verdict.Checkpoint{Name: "a", Class: verdict.Judged, Groups: verdict.NoTestCounts()}
	if errs := checkpointValue(&c).Type().TestConformance(lang.CheckpointShape); len(errs) > 0 {
		t.Error(errs)
	}
	cell := report.Cell{Problem: "p", Status: verdict.Success, Labels: map[string]string{"model": "m"},
		Checkpoints: []report.Checkpoint{report.NewCheckpoint(&c, &verdict.Measurements{})}}
	attrs := groupValue([]report.Cell{cell}).AsValueMap()
	attrs["checkpoints"] = cty.ListVal(attrs["checkpoints"].AsValueSlice())
	attrs["labels"] = cty.MapVal(attrs["labels"].AsValueMap())
	if errs := cty.ObjectVal(attrs).Type().TestConformance(lang.CellsShape); len(errs) > 0 {
		t.Error(errs)
	}
}
