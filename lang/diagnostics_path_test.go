package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A missing file whose name has another normal form is named.
func TestUnnormalizedName(t *testing.T) {
	const decomposed, composed = "cafe\u0301", "caf\u00e9"
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, decomposed), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, composed)); err == nil {
		t.Skip("this file system normalises names")
	}
	for name, said := range map[string]bool{composed: true, composed + "/deep/file": true, "other": false, "other/" + composed: false} {
		_, err := os.Stat(filepath.Join(dir, name))
		reason := pathReason(name, err)
		if got := strings.Contains(reason, `"cafe\u0301" is not in Unicode normal form C`); got != said || !strings.Contains(reason, " not found") {
			t.Errorf("%s: %s", name, reason)
		}
	}
}
