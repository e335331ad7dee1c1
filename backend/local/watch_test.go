//go:build unix

package local

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// broken is a writer that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestWatchWithoutProcessFiles watches a process with all its output to the end on a system without files for
// processes.
func TestWatchWithoutProcessFiles(t *testing.T) {
	var kept bytes.Buffer
	outputs, err := outputsOf(&kept, broken{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a line\n", 100_000) // more than a pipe holds
	ended, err := endOf(func() {
		for _, o := range outputs {
			if _, err := o.command.WriteString(text); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ended.Close()
	if err := watch(&process{ended: ended}, outputs); err != nil {
		t.Fatal(err)
	}
	if !(&process{ended: ended}).hasEnded() {
		t.Error("the process seems to run")
	}
	if err := finish(outputs); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("the error of a writer is lost: %v", err)
	}
	if kept.String() != text {
		t.Errorf("%d bytes of %d were kept", kept.Len(), len(text))
	}
}
