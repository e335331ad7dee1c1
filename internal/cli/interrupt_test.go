//go:build unix

package cli

import (
	"io"
	"syscall"
	"testing"
	"time"
)

// A command with nothing to stop ends after one signal, even if its computation does not look at the context.
func TestInterruptIdle(t *testing.T) {
	ended := make(chan int, 1)
	defer func(end func(int)) { endProcess = end }(endProcess)
	endProcess = func(code int) { ended <- code }
	a := &app{io: IO{Err: io.Discard}}
	ctx, stop := a.interruptible()
	defer stop()
	a.idle.Store(true)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	select {
	case code := <-ended:
		if code != 130 {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(5 * time.Minute):
		t.Error("the process did not end")
	}
}
