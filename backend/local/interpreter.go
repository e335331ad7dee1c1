//go:build unix

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

const (
	// probeTimeout limits an identity probe. A cold interpreter on a slow disk takes seconds, not minutes.
	probeTimeout = time.Minute

	uvHint = "install uv: pip install uv, or see https://docs.astral.sh/uv/"
)

// interpreter is the result of a successful probe.
type interpreter struct{ path, version string }

// Interpreter returns the absolute path of the Python interpreter that uv chooses and its implementation
// and version, such as "CPython 3.11.7". The first success is cached for the life of b. A missing uv or
// interpreter is a *backend.ToolError.
func (b *Backend) Interpreter(ctx context.Context) (path, version string, err error) {
	b.probe.Lock()
	defer b.probe.Unlock()
	if b.python.path == "" {
		if b.python, err = b.findInterpreter(ctx); err != nil {
			return "", "", fmt.Errorf("finding the python interpreter: %w", err)
		}
	}
	return b.python.path, b.python.version, nil
}

// Platform returns this machine's platform.
func (b *Backend) Platform(context.Context) (string, error) { return platform, nil }

func (b *Backend) findInterpreter(ctx context.Context) (interpreter, error) {
	uv, err := lookPath("uv", b.opt.Path, "/")
	if err != nil {
		return interpreter{}, &backend.ToolError{Tool: "uv", Err: err, Hint: uvHint}
	}
	request := b.opt.Python
	if request == "" {
		// uv uses it everywhere except in "python find".
		request, _ = getenv(b.opt.Env, "UV_PYTHON")
	}
	argv := []string{uv, "python", "find", "--no-project"}
	if request != "" {
		argv = append(argv, request)
	}
	env := leading(b.opt.Env)
	path, err := b.ask(ctx, argv, env)
	if err != nil {
		return interpreter{}, probeError(ctx, strings.TrimSpace("python "+request), err,
			strings.TrimSpace("install one: uv python install "+request))
	}
	version, err := b.ask(ctx, append([]string{path}, backend.VersionArgs...), env)
	if err != nil {
		return interpreter{}, probeError(ctx, path, err, "")
	}
	return interpreter{path: path, version: version}, nil
}

// askedTarget queries an interpreter for its own path.
func (b *Backend) askedTarget(ctx context.Context, program string) string {
	env := slices.Clone(b.opt.Env)
	if _, set := getenv(env, "HOME"); !set {
		env = append(env, "HOME=/nonexistent") // sessions use another one, without settings
	}
	path, err := b.ask(ctx, []string{program, "-I", "-c", "import sys; print(sys.executable)"}, env)
	if err != nil || !filepath.IsAbs(path) || path == program {
		return ""
	}
	return runnable(path)
}

// ask runs a probe and returns its standard output, which must not be empty.
func (b *Backend) ask(ctx context.Context, argv, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := b.probeCommand(ctx, argv, env)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			return "", fmt.Errorf("%w: %s", err, said)
		}
		return "", err
	}
	answer := strings.TrimSpace(stdout.String())
	if answer == "" {
		return "", errors.New("printed nothing")
	}
	return answer, nil
}

// version returns the output of a command of Options.Versions. A missing or failing command is not an
// error: it only affects tests that need the tool.
func (b *Backend) version(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := b.probeCommand(ctx, []string{"/bin/sh", "-c", command}, b.opt.Env)
	said, err := cmd.CombinedOutput()
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return "", err
	}
	text := strings.TrimSpace(string(said))
	if failed != nil {
		text = strings.TrimSpace(fmt.Sprintf("%s (%v)", text, failed))
	}
	return text, nil
}

// probeCommand returns a command that starts in the root directory, where neither a project nor a
// .python-version can change the answer.
func (b *Backend) probeCommand(ctx context.Context, argv, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append([]string{}, env...) // never nil: that would inherit everything
	if _, set := getenv(cmd.Env, "PATH"); !set {
		cmd.Env = append(cmd.Env, "PATH="+b.opt.Path)
	}
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	return cmd
}

// probeError returns a *backend.ToolError, or the cause if the caller gave up.
func probeError(ctx context.Context, tool string, err error, hint string) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return &backend.ToolError{Tool: tool, Err: err, Hint: hint}
}
