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
	if report, log, err := ReadOutput(t.Context(), store, k.Outcome.Outputs); report != nil || log != nil || err != nil {
		t.Errorf("a run without an exit: %q, %q, %v", report, log, err)
	}
	k.JSON(OutputExit, exitFacts{})
	k.JSON(OutputTiming, session.Timing{})
	if report, log, err := ReadOutput(t.Context(), store, k.Outcome.Outputs); string(report) != "{}" || string(log) != "collected 1 item\n" || err != nil {
		t.Errorf("%q, %q, %v", report, log, err)
	}
}
