package fake

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
)

// Imitate implements the programs that the suite for sandboxes runs.
func Imitate(ctx context.Context, p *Process) (backend.Ending, error) {
	text := p.Argv[len(p.Argv)-1]
	if len(p.Argv) == 1 {
		content, err := p.Dir.Read(text)
		if err != nil {
			return backend.Ending{}, err
		}
		text = string(content)
	}
	code, known := backendtest.Imitate(ctx, text, backendtest.Act{In: p.Input, Out: p.Output, Err: p.Errors, Read: p.Dir.Read, Write: p.Dir.Write})
	if !known {
		return backend.Ending{}, fmt.Errorf("cannot imitate %q", text)
	}
	return backend.Ending{Code: code}, nil
}
