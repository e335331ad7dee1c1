package pytest

import (
	"os"
	"os/exec"
	"testing"
)

// A process that ends while it is measured takes no time from a test's limit.
func TestLimitsOfEndedProcesses(t *testing.T) {
	if os.Getenv("FEVALGRAPH_TEST_REAL") == "" {
		t.Skip("needs Python: set FEVALGRAPH_TEST_REAL=1, or use `make test-all`")
	}
	cmd := exec.Command("python3", "-B", "testdata/limits.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH=.")
	if said, err := cmd.CombinedOutput(); err != nil || string(said) != "ok\n" {
		t.Errorf("%v\n%s", err, said)
	}
}
