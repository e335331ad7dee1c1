package kind

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Withheld returns an executor that answers only what requires no program and no server. Everything else
// returns the error of because.
func Withheld(e plan.Executor, because func() error) plan.Executor {
	switch {
	case e.Backend != nil:
		e.Backend = withheldBackend{e.Backend, because}
	case e.Sandbox != nil:
		e.Sandbox = withheldSandbox{because}
	default:
		e.Server = withheldServer{e.Server.Name(), because}
	}
	return e
}

type withheldBackend struct {
	made    backend.Backend
	because func() error
}

func (w withheldBackend) Network() backend.Network { return w.made.Network() }

func (w withheldBackend) Identity(context.Context) (backend.Identity, error) {
	return nil, w.because()
}

func (w withheldBackend) Prepare(context.Context, string, backend.Command) (string, backend.Exit, error) {
	return "", backend.Exit{}, w.because()
}

func (w withheldBackend) Open(context.Context, backend.Spec) (backend.Session, error) {
	return nil, w.because()
}

// Capabilities returns the capabilities of the backend that plans need.
func (w withheldBackend) Capabilities() backend.Capabilities {
	can := w.made.Capabilities()
	if can.Python != nil {
		can.Python = withheldPython(w)
	}
	if can.BareIdentity != nil {
		can.BareIdentity = w.Identity
	}
	if can.Programs != nil {
		can.Programs = func(context.Context, []string) (backend.Identity, error) { return nil, w.because() }
	}
	if can.Images != nil {
		can.Images = withheldImages(w)
	}
	if can.GPU != nil {
		can.GPU = func(context.Context) error { return w.because() }
	}
	return can
}

type withheldPython withheldBackend

func (w withheldPython) Interpreter(context.Context) (path, version string, err error) {
	return "", "", w.because()
}

func (w withheldPython) Platform(context.Context) (string, error) { return "", w.because() }

type withheldImages withheldBackend

func (w withheldImages) Ingredients(context.Context, []byte) (backend.Identity, error) {
	return nil, w.because()
}

func (w withheldImages) Build(context.Context, backend.Recipe, io.Writer) ([]byte, error) {
	return nil, w.because()
}

func (w withheldImages) Find(context.Context, cache.Digest) (bool, error) { return false, w.because() }

type withheldSandbox struct{ because func() error }

func (w withheldSandbox) Identity(context.Context) (backend.Identity, error) {
	return nil, w.because()
}

func (w withheldSandbox) Run(context.Context, ...backend.Program) ([]backend.Ending, error) {
	return nil, w.because()
}

type withheldServer struct {
	name    string
	because func() error
}

func (w withheldServer) Name() string { return w.name }

func (w withheldServer) Identity(context.Context) (backend.Identity, error) {
	return nil, w.because()
}

func (w withheldServer) Grade(context.Context, backend.Submission) (*backend.Grade, error) {
	return nil, w.because()
}
