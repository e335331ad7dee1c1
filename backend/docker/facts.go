package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
)

// facts holds the answers of an image's containers.
type facts struct {
	uid, gid int    // of the commands' user
	python   string // path of the interpreter; "" if the image lacks one
	version  string // "CPython 3.11.2"; noPython if the image lacks one
	limits   backend.LowLimits
}

// noPython identifies an image without an interpreter.
const noPython = "none"

// Interpreter returns the path, in the container, of the Python interpreter
// that uv chooses there, and its implementation and version. An image without
// one is a *backend.ToolError.
func (b *Backend) Interpreter(ctx context.Context) (path, version string, err error) {
	_, found, err := b.resolve(ctx)
	if err != nil {
		return "", "", err
	}
	if found.python == "" {
		return "", "", &backend.ToolError{Tool: strings.TrimSpace("python " + b.opt.Python),
			Err: fmt.Errorf("not found in image %s", b.opt.Image), Hint: "use an image with python and uv"}
	}
	return found.python, found.version, nil
}

// Platform returns the image's platform, "linux/amd64". It includes the variant only if programs for one
// variant might not run on another.
func (b *Backend) Platform(ctx context.Context) (string, error) {
	image, _, err := b.resolve(ctx)
	if err != nil {
		return "", err
	}
	parts := strings.SplitN(image.platform, "/", 3)
	if len(parts) == 3 && parts[1] != "arm" {
		return parts[0] + "/" + parts[1], nil
	}
	return image.platform, nil
}

// probe runs a container without a workspace.
func (b *Backend) probe(ctx context.Context, image *resolvedImage) (found *facts, err error) {
	asked := oneShotContainer{b: b, image: image, name: "probe", on: noNetwork,
		run: func(ctx context.Context, r *runner) (err error) {
			found, err = b.askAll(ctx, r, image)
			return err
		}}
	err = asked.do(ctx)
	if errors.Is(err, errNoIPv6) {
		b.d.noIPv6.Store(true)
		err = asked.do(ctx)
	}
	return found, err
}

func (b *Backend) askAll(ctx context.Context, r *runner, image *resolvedImage) (*facts, error) {
	env := append(append([]string{}, image.env...), "HOME=/tmp", "UV_CACHE_DIR=/tmp/fevalgraph-uv")
	env = append(env, b.opt.Env...)
	if _, set := getenv(env, "PATH"); !set {
		env = append(env, "PATH="+defaultPath)
	}
	// answer is the output of a program, or "" if it fails or is missing.
	answer := func(argv ...string) (string, error) {
		var out bytes.Buffer
		exit, err := r.run(ctx, backend.Command{Argv: argv, Env: env, At: "/", Timeout: b.d.wait.call, Output: &out, Errors: io.Discard})
		tool := (*backend.ToolError)(nil)
		switch {
		case errors.As(err, &tool):
			return "", nil
		case err != nil:
			return "", err
		case exit.TimedOut:
			return "", fmt.Errorf("%s did not answer within %v", argv[0], b.d.wait.call)
		case exit.OOM:
			return "", errors.New("it ran out of memory before it answered")
		case exit.Code != 0:
			return "", nil
		}
		return strings.TrimSpace(out.String()), nil
	}
	found := &facts{version: noPython}
	text, err := answer(programPath, backend.ContainerCommand, backend.ContainerFacts)
	if err != nil {
		return nil, err
	}
	var fact backend.ContainerFact
	if err := json.Unmarshal([]byte(text), &fact); err != nil {
		return nil, fmt.Errorf("cannot determine the container's user and limits: %w: %s", err, text)
	}
	found.uid, found.gid, found.limits = fact.UID, fact.GID, fact.Limits
	find := []string{"uv", "python", "find", "--no-project"}
	if b.opt.Python != "" {
		find = append(find, b.opt.Python)
	} else if request, _ := getenv(b.opt.Env, "UV_PYTHON"); request != "" {
		find = append(find, request) // uv uses it everywhere except in "python find"
	}
	python, err := answer(find...)
	if err == nil && python == "" {
		python, err = answer("python3", "-I", "-c", "import sys; print(sys.executable)")
	}
	if err != nil || python == "" {
		return found, err
	}
	version, err := answer(append([]string{python}, backend.VersionArgs...)...)
	if version != "" {
		found.python, found.version = python, version
	}
	return found, err
}
