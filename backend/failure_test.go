package backend

import (
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

func TestExhaustedTool(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EMFILE: "ulimit -n", syscall.ENFILE: "fs.file-max", syscall.EAGAIN: "processes", syscall.ENOMEM: "memory", syscall.ENOENT: "", syscall.EACCES: "",
	} {
		err := &exec.Error{Name: "uv", Err: &fs.PathError{Op: "fork/exec", Path: "/bin/uv", Err: errno}}
		if got := exhaustion.Hint(errors.Join(errors.New("another"), err)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", errno, got, want)
		}
		tool := &ToolError{Tool: "uv", Err: err, Hint: "install it"}
		if got := tool.Error(); strings.Contains(got, "install it") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%v: tool error %q", errno, got)
		}
	}
}
