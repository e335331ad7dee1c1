package local

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDo checks that fn never runs on the main thread, which does not end with its goroutine.
func TestDo(t *testing.T) {
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		thread := 0
		if err := onOwnThread(func() error { thread = unix.Gettid(); return want }); !errors.Is(err, want) {
			t.Errorf("onOwnThread returns %v, want %v", err, want)
		}
		if thread == unix.Getpid() {
			t.Error("fn ran on the main thread")
		}
	}
}

func TestThreadsAreNotShared(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	outer := unix.Gettid()
	err := onOwnThread(func() error {
		first := unix.Gettid()
		return onOwnThread(func() error {
			if second := unix.Gettid(); second == first || second == outer || first == outer {
				t.Errorf("threads %d, %d and %d, want three", outer, first, second)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
