package requirements

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/capped"
)

// Inside is a Resolver that uses the uv of a backend, in a separate session, if the interpreter is not on
// this machine.
type Inside struct {
	Backend backend.Backend
	Env     []string // KEY=value, for the backend's commands
}

// Names of the files in the workspace.
const (
	inFile  = "requirements.in"
	outFile = "requirements.txt"
)

// resolveTimeout is generous: uv might have to build packages to determine their requirements.
const resolveTimeout = 10 * time.Minute

// Resolve implements Resolver.
func (i *Inside) Resolve(ctx context.Context, python string, requires, preferences []string) (pins []string, err error) {
	session, err := i.Backend.Open(ctx, backend.Spec{Name: "locking", Inputs: []backend.Input{
		{Path: inFile, Content: lines(requires)}, {Path: outFile, Content: lines(preferences)},
	}})
	if err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	defer func() {
		if closed := session.Close(context.WithoutCancel(ctx)); closed != nil && err == nil {
			err = fmt.Errorf("resolving requirements: %w", closed)
		}
	}()
	var said capped.Buffer
	exit, err := session.Exec(ctx, backend.Command{
		Argv: append([]string{"uv"}, compileCommand(python, inFile, outFile)...), Env: i.Env, Timeout: resolveTimeout, Online: true, Output: &said,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("resolving requirements: %w", err)
	case exit.TimedOut:
		return nil, fmt.Errorf("resolving requirements: uv took longer than %v", resolveTimeout)
	case exit.Code != 0:
		return nil, failure(fmt.Errorf("exit code %d", exit.Code), requires, string(said.Bytes()))
	}
	out, err := session.Collect(ctx, outFile)
	if err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(out, maxPins))
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	return ReadPins(string(content))
}

// maxPins limits uv's output, which has a line per package.
const maxPins = 16 << 20
