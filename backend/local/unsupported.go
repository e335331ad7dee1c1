//go:build !unix

package local

import (
	"context"
	"errors"
	"runtime"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// errUnsupported is why nothing runs here: sessions are process groups, and their
// leftovers are found by what children inherit, on Unix systems.
var errUnsupported error = &backend.ToolError{
	Tool: "backend local", Err: errors.New("it does not run on " + runtime.GOOS), Hint: "use a docker backend",
}

// PrivateNetwork returns why commands get no private network.
func PrivateNetwork() error { return errUnsupported }

func (b *Backend) open(context.Context, backend.Spec, isolation.Level) (backend.Session, error) {
	return nil, errUnsupported
}

type interpreter struct{}

// Interpreter would return the interpreter that uv chooses.
func (b *Backend) Interpreter(context.Context) (path, version string, err error) {
	return "", "", errUnsupported
}

// Platform would return what the interpreter is for.
func (b *Backend) Platform(context.Context) (string, error) { return "", errUnsupported }

func (b *Backend) version(context.Context, string) (string, error) { return "", errUnsupported }

func (b *Backend) askedTarget(context.Context, string) string { return "" }

func getenv([]string, string) (string, bool) { return "", false }

func inheritedLimits() backend.Identity { return nil }

func (b *Backend) shown([]string, []string) []backend.Shown { return nil }

func systemPlaces() []isolation.Place { return nil }

func lookPath(string, string, string) (string, error) { return "", errUnsupported }

// Reap would end what a dead run left. Nothing can have been left here.
func Reap(context.Context, backend.Entry) error { return errUnsupported }
