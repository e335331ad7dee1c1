//go:build !unix

package local

import (
	"context"
	"errors"
	"runtime"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// errUnsupported is the error for every use: sessions need process groups, and
// attributes that children inherit, of Unix systems.
var errUnsupported error = &backend.ToolError{
	Tool: "backend local", Err: errors.New("not supported on " + runtime.GOOS), Hint: "use a docker backend",
}

// PrivateNetwork returns an error: this system has no private networks.
func PrivateNetwork() error { return errUnsupported }

func (b *Backend) open(context.Context, backend.Spec, isolation.Level) (backend.Session, error) {
	return nil, errUnsupported
}

type interpreter struct{}

// Interpreter returns an error.
func (b *Backend) Interpreter(context.Context) (path, version string, err error) {
	return "", "", errUnsupported
}

// Platform returns an error.
func (b *Backend) Platform(context.Context) (string, error) { return "", errUnsupported }

func (b *Backend) version(context.Context, string) (string, error) { return "", errUnsupported }

func (b *Backend) askedTarget(context.Context, string) string { return "" }

func getenv([]string, string) (string, bool) { return "", false }

func ignoresSetuid(string) bool { return false }

func (b *Backend) shownFiles([]string, []string) []backend.Shown { return nil }

func (b *Backend) installation(string) string { return "" }

func systemPlaces() []isolation.Place { return nil }

func lookPath(string, string, string) (string, error) { return "", errUnsupported }

// Reap returns an error: no run can have left a session here.
func Reap(context.Context, backend.Entry) error { return errUnsupported }
