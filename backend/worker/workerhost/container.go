package workerhost

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// RunContainer runs as the first process of a container: it serves a session over its standard input and
// output, and ends with its input. text is the argument after backend.ContainerCommand.
func RunContainer(ctx context.Context, text string) error {
	if text == backend.ContainerFacts {
		return json.NewEncoder(os.Stdout).Encode(backend.ContainerFact{UID: os.Getuid(), GID: os.Getgid(), Limits: backend.FindLowLimits()})
	}
	var c backend.Container
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return fmt.Errorf("reading the container's configuration: %w", err)
	}
	if len(c.Egress) > 0 {
		return serveEgress(ctx, fmt.Sprintf(":%d", backend.EgressPort), c.Egress)
	}
	runtime.GOMAXPROCS(2) // its threads count as processes of the container
	return worker.ServeStream(ctx, os.Stdin, os.Stdout, c.Blobs, func(ctx context.Context, store cache.Store, spec backend.Spec) (backend.Session, error) {
		b, err := local.NewInside(store, c)
		if err != nil {
			return nil, err
		}
		return b.Open(ctx, spec)
	})
}
