package lang

import (
	"os"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

// TestKinds are the program's kinds of backends, which import this package.
var TestKinds []BackendKind

func testExtensions() *Extensions { return &Extensions{Kinds: TestKinds} }

func TestMain(m *testing.M) { os.Exit(ramdir.Run(m)) }
