package pytest

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

func TestReadOutput(t *testing.T) {
	store := cache.NewMemory()
	k := session.Keeper{Ctx: t.Context(), Store: store}
	k.Keep(OutputReport, []byte("{}"))
	k.Keep(OutputLog, []byte("collected 1 item\n"))
	if k.Err != nil {
		t.Fatal(k.Err)
	}
	for _, outputs := range [][]cache.Output{k.Outcome.Outputs, nil} {
		report, log, err := ReadOutput(t.Context(), store, outputs)
		if whole := outputs != nil; (string(report) == "{}") != whole || (string(log) == "collected 1 item\n") != whole || err != nil {
			t.Errorf("%q, %q, %v", report, log, err)
		}
	}
}
