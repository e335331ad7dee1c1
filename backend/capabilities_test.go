package backend_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
)

// TestVersionArgs compares VersionArgs with the module platform, whose text is in the keys of pytest tasks.
func TestVersionArgs(t *testing.T) {
	if os.Getenv("FEVALGRAPH_TEST_REAL") == "" {
		t.Skip("needs Python: set FEVALGRAPH_TEST_REAL=1, or use `make test-all`")
	}
	output := func(args ...string) string {
		out, err := exec.Command("python3", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := output("-I", "-c", "import platform; print(platform.python_implementation(), platform.python_version())")
	if got := output(backend.VersionArgs...); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
