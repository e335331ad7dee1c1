package pytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Environments ensures, once per backend, set of requirements, interpreter and location of uv's files,
// that uv can provide pytest. This step needs the network, whose failures must be distinguished from those
// of tests, and it happens before a submission could interfere. The zero value is ready to use; it is safe
// for concurrent use.
type Environments struct {
	Offline bool // never use the network, for backends that share this machine's files

	preparations backend.Preparations
}

// pytestLocation is the location of pytest for sessions.
type pytestLocation struct {
	python   string // the interpreter; "" means uv's choice
	venv     string // an environment with pytest; "" means that uvx creates one for each session
	snapshot string
}

// locatePytest returns the location of pytest for sessions. An environment for several sessions must be
// immutable for them, and determined by its name.
func (r *Run) locatePytest(python, version string) pytestLocation {
	in := pytestLocation{python: python}
	can := r.Backend.Capabilities()
	switch {
	case r.Shared == "":
	case can.OwnFiles:
		in.venv = requirements.Venv(path.Join(r.Shared, "pytest"))
	case python != "" && can.Shielded() && requirements.Hashed(r.pins):
		in.venv = requirements.Venv(path.Join(r.Shared, requirements.Name(python, version, r.pins)))
	}
	return in
}

// shared returns the directory of the environment; "" means none.
func (in pytestLocation) shared() string {
	if in.venv == "" {
		return ""
	}
	return path.Dir(in.venv)
}

// damagedFile is an additional file in an environment that does not work, so that it is prepared again.
const damagedFile = "damaged"

const uvxHint = "uvx comes with uv: pip install uv"

var errNoUVX = &backend.ToolError{Tool: uvxProgram, Err: errors.New("program not found"), Hint: uvxHint}

// prepareTimeout is generous: the first run downloads every wheel.
const prepareTimeout = 10 * time.Minute

// prepare makes uv provide pytest, once.
func (e *Environments) prepare(ctx context.Context, r *Run, env []string) (in pytestLocation, err error) {
	var python, version string
	if p := r.Backend.Capabilities().Python; p != nil {
		if python, version, err = p.Interpreter(ctx); err != nil {
			return in, err
		}
	}
	in = r.locatePytest(python, version)
	in.snapshot, err = e.preparations.Do(r.Backend, r.preparation(in), func() (string, error) { return e.provide(ctx, r, in, env) })
	if err != nil {
		err = fmt.Errorf("preparing pytest with uv: %w", err)
	}
	return in, err
}

// provide makes uv provide pytest.
func (e *Environments) provide(ctx context.Context, r *Run, in pytestLocation, env []string) (snapshot string, err error) {
	snapshot, exit, out, err := e.fetch(ctx, r, in, env)
	var tool *backend.ToolError
	if errors.As(err, &tool) && tool.Tool == uvxProgram {
		tool.Hint = uvxHint
	}
	switch {
	case err != nil:
		return "", err
	case exit.Code == session.ShellNotFound: // uv or uvx
		return "", errNoUVX
	case exit.Code != 0:
		return "", fmt.Errorf("%s: %s", session.Words("exit code", exit), bytes.TrimSpace(backend.RedactBytes(out, r.Env.Masked())))
	}
	return snapshot, nil
}

// preparation returns a name for the work of uv to provide pytest, from the command and the variables that
// affect uv.
func (r *Run) preparation(in pytestLocation) string {
	return strings.Join(r.provide(in, false), "\x00") + "\x00\x00" + uvVariables(r.Env.Preparing())
}

// verify checks, after pytest judged no test, whether uv can still provide it: its cache might have been
// removed. It uses another session, which the submission cannot have changed. If uv fails, the next
// attempt prepares pytest again.
func (e *Environments) verify(ctx context.Context, r *Run, name string, in pytestLocation) error {
	var out capped.Buffer
	exit, err := backend.Once(ctx, r.Backend, backend.Spec{Name: name, Snapshot: in.snapshot}, backend.Command{
		Argv: append(r.pytest(in, true), "--version"), Env: r.Env.Preparing(), Timeout: prepareTimeout, Output: &out,
	})
	if err == nil && exit.Code == 0 {
		return nil
	}
	e.preparations.Forget(r.Backend, r.preparation(in))
	if err != nil {
		return fmt.Errorf("checking uv's pytest after the tests: %w", err)
	}
	cause := "uv no longer provides pytest"
	if in.venv != "" && !r.Backend.Capabilities().OwnFiles {
		cause = "the environment of pytest is damaged, and is prepared again"
		if err := os.WriteFile(filepath.Join(filepath.Dir(in.venv), damagedFile), nil, 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("marking a damaged environment: %w", err)
		}
	}
	return fmt.Errorf("%s, so its failure proves nothing: %s: %s", cause,
		session.Words("exit code", exit), session.LastLine(backend.RedactBytes(out.Bytes(), r.Env.Masked())))
}

// fetch makes uv provide pytest. If uv's cache outlives sessions, it is tried first without the network,
// which can be slow or missing.
func (e *Environments) fetch(ctx context.Context, r *Run, in pytestLocation, env []string) (snapshot string, exit backend.Exit, out []byte, err error) {
	attempts := []bool{false}
	if !r.Backend.Capabilities().OwnFiles {
		attempts = []bool{true, false}
		if e.Offline {
			attempts = attempts[:1]
		}
	}
	for _, offline := range attempts {
		var said capped.Buffer
		with := slices.Clone(env)
		if offline && in.venv != "" { // for uvx it is an option
			with = append(with, "UV_OFFLINE=1")
		}
		snapshot, exit, err = r.Backend.Prepare(ctx, r.preparation(in), backend.Command{
			Argv: r.provide(in, offline), Env: with, Timeout: prepareTimeout, Output: &said, Prepares: in.shared(),
		})
		if out = said.Bytes(); err != nil || exit.Code == 0 {
			break
		}
	}
	return snapshot, exit, out, err
}

// uvVariables returns the variables of env that can change uv's cache or index.
func uvVariables(env []string) string {
	var found []string
	for _, v := range env {
		if strings.HasPrefix(v, "UV_") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "HOME=") {
			found = append(found, v)
		}
	}
	return strings.Join(found, "\x00")
}
