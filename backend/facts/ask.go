package facts

import (
	"context"
	"errors"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
)

// ErrNoSandbox reports that a machine has no sandbox for judge problems.
var ErrNoSandbox error = &backend.ToolError{Tool: "go-judge", Err: errors.New("the worker has no go-judge"), Hint: "set the backend's go_judge to its path, or add it to the machine's PATH"}

// Ask queries a machine, by its backend and its sandbox, which can be nil.
func Ask(ctx context.Context, b backend.Backend, sandbox backend.Sandbox, what string) (a Fact, err error) {
	can := b.Capabilities()
	switch what {
	case Identity:
		a.Identity, err = b.Identity(ctx)
	case Bare:
		a.Identity, err = can.BareIdentity(ctx)
	case Interpreter:
		a.Path, a.Text, err = can.Python.Interpreter(ctx)
	case Platform:
		a.Text, err = can.Python.Platform(ctx)
	case Isolation:
		a.Text = can.Level()
	case Sandbox:
		if sandbox == nil {
			return a, ErrNoSandbox
		}
		a.Identity, err = sandbox.Identity(ctx)
	default:
		a.Identity, err = can.Programs(ctx, strings.Fields(strings.TrimPrefix(what, Programs)))
	}
	return a, err
}
