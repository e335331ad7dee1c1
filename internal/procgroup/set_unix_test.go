//go:build unix

package procgroup

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestSet ends a shell whose child has stdout open, too: stdout ends only when both have ended.
func TestSet(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "sleep 600 & echo started; wait")
	cmd.Stdout = in
	Set(cmd)
	err = cmd.Start()
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "started\n" {
		t.Fatalf("the shell printed %q, %v", line, err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("the shell was not ended")
	}
	if err := out.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil { // guards against a hang
		t.Fatal(err)
	}
	if _, err := io.ReadAll(lines); err != nil {
		t.Errorf("the child of the shell goes on: %v", err)
	}
}
