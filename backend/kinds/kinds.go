// Package kinds lists the kinds of backends that the program has. Each is one line here and a
// folder below package backend with its kind.Kind. Those of local and gojudge are here,
// because programs that do not link the language, such as fevalgraph-worker, use these
// backends.
package kinds

import (
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/backend/lightcp"
	"github.com/fevalgraph/fevalgraph/backend/remote"
	"github.com/fevalgraph/fevalgraph/backend/skypilot"
	"github.com/fevalgraph/fevalgraph/eval/kind"
)

// All returns the kinds, in the order in which the doctor checks them.
func All() []kind.Kind {
	return []kind.Kind{localKind(), docker.BackendKind(), goJudgeKind(), lightcp.BackendKind(), skypilot.BackendKind(), remote.BackendKind()}
}
