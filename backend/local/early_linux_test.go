package local_test

import (
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// A limit that ends a command while its isolation is still being made is a limit all the same.
func TestLimitBeforeProgram(t *testing.T) {
	t.Parallel()
	need(t, isolation.Full)
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir(), Grace: 50 * time.Millisecond}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: string(isolation.Full)}}, backend.Spec{})
	step := time.Duration(longtest.Size(1000, 200)) * time.Microsecond
	for after := 100 * time.Microsecond; after < 20*time.Millisecond; after += step {
		exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"sleep", "60"}, Timeout: after})
		if err != nil || !exit.TimedOut {
			t.Fatalf("after %v: %+v, %v", after, exit, err)
		}
	}
}
