// Package kinds lists the kinds of backends that the program has. Each is one line
// here and one folder below package backend.
package kinds

import (
	"github.com/fevalgraph/fevalgraph/backend/docker/dockerkind"
	"github.com/fevalgraph/fevalgraph/backend/gojudge/gojudgekind"
	"github.com/fevalgraph/fevalgraph/backend/lightcp/lightcpkind"
	"github.com/fevalgraph/fevalgraph/backend/local/localkind"
	"github.com/fevalgraph/fevalgraph/backend/remote/remotekind"
	"github.com/fevalgraph/fevalgraph/backend/skypilot/skypilotkind"
	"github.com/fevalgraph/fevalgraph/eval/kind"
)

// All are the kinds, in the order in which the doctor checks them.
func All() []kind.Kind {
	return []kind.Kind{
		localkind.Kind(),
		dockerkind.Kind(),
		gojudgekind.Kind(),
		lightcpkind.Kind(),
		skypilotkind.Kind(),
		remotekind.Kind(),
	}
}
