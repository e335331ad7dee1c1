package exhaustion

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestHint(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string // part of the hint; "" means that the error is not about exhaustion
	}{
		{syscall.EMFILE, "ulimit -n"},
		{syscall.ENFILE, "fs.file-max"},
		{syscall.EAGAIN, "processes"},
		{syscall.ENOMEM, "memory"},
		{fmt.Errorf("starting: %w", &fs.PathError{Op: "fork/exec", Path: "/bin/sh", Err: syscall.EAGAIN}), "processes"},
		{errors.Join(errors.New("other"), syscall.EMFILE), "ulimit -n"},
		{syscall.ENOENT, ""},
		{syscall.ENOSPC, "TMPDIR"},
		{syscall.EDQUOT, "TMPDIR"},
		{errors.New("too many open files"), ""},
		{nil, ""},
	} {
		hint := Hint(c.err)
		if c.want == "" && hint != "" || !strings.Contains(hint, c.want) {
			t.Errorf("Hint(%v) = %q, want it to contain %q", c.err, hint, c.want)
		}
		if got := Is(c.err); got != (c.want != "") {
			t.Errorf("Is(%v) = %v", c.err, got)
		}
		if got := IsOwn(c.err); got != (c.want == "ulimit -n") {
			t.Errorf("IsOwn(%v) = %v", c.err, got)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC} {
		said := errors.New("Internal Error: write x: " + errno.Error())
		if got := Named(said); !errors.Is(got, errno) || got.Error() != said.Error() {
			t.Errorf("Named(%v) = %v, which does not wrap %v", said, got, errno)
		}
	}
	if said := errors.New("no space left on device: x"); Named(said) != said {
		t.Error("an error is named for what does not end it")
	}
}
