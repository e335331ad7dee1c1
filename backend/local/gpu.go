package local

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// gpuTimeout limits how long a driver can take to list its devices. A driver that hangs counts as having
// none.
const gpuTimeout = 5 * time.Second

// gpu returns a *backend.AbsentError unless nvidia-smi, looked up in the
// backend's PATH, lists a GPU.
func (b *Backend) gpu(ctx context.Context) error {
	program, err := lookPath("nvidia-smi", b.opt.Path, "/")
	if err != nil {
		return &backend.AbsentError{Device: "GPU", Err: errors.New("nvidia-smi is not in PATH")}
	}
	limited, cancel := context.WithTimeout(ctx, gpuTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, program, "-L")
	cmd.Env = []string{"PATH=" + b.opt.Path}
	cmd.WaitDelay = time.Second
	listed, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &backend.AbsentError{Device: "GPU", Err: fmt.Errorf("nvidia-smi -L: %w", err)}
	case strings.TrimSpace(string(listed)) == "":
		return &backend.AbsentError{Device: "GPU", Err: errors.New("nvidia-smi -L lists no GPU")}
	}
	return nil
}
