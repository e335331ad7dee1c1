package certificates

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSystem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bundle.crt")
	defer func(before []string) { bundles = before }(bundles)
	bundles = []string{file}
	unset := func(string) (string, bool) { return "", false }
	if got := System(unset); got != nil {
		t.Errorf("without a system store uv is pointed at it: %q", got)
	}
	if err := os.WriteFile(file, []byte("-----BEGIN CERTIFICATE-----"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := System(unset), []string{"UV_SYSTEM_CERTS=true", "UV_NATIVE_TLS=true"}; !slices.Equal(got, want) {
		t.Errorf("variables are %q, want %q", got, want)
	}
	decided := func(name string) (string, bool) { return "false", name == "UV_NATIVE_TLS" }
	if got := System(decided); got != nil {
		t.Errorf("the caller's UV_NATIVE_TLS=false is overruled: %q", got)
	}
}
