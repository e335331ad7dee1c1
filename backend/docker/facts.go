package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
)

// facts is what containers of an image say about themselves.
type facts struct {
	uid, gid int    // of the commands' user
	python   string // path of the interpreter; "" for none
	version  string // "CPython 3.11.2"; noPython for none
	told     bool   // their init says how programs end
}

// noPython is what an identity says of an image without an interpreter.
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
			Err: fmt.Errorf("image %s has none", b.opt.Image), Hint: "use an image with python and uv"}
	}
	return found.python, found.version, nil
}

// Platform is the image's, "linux/amd64". A variant is named only where programs
// for one may not run on another.
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

// The probe marks its answers, because programs that it asks may print more.
const probeMark = "fevalgraph-fact "

// probe runs a container without a workspace.
func (b *Backend) probe(ctx context.Context, image *resolved) (*facts, error) {
	var out bytes.Buffer
	ask := job{script: b.probeScript(image), grace: b.opt.Grace, limit: b.d.wait.launch, out: &out}
	var res result
	asked := once{b: b, image: image, name: "probe", on: noNetwork,
		after: func(_ context.Context, _ string, r result) error { res = r; return nil }}
	err := asked.run(ctx, ask)
	if errors.Is(err, errNoIPv6) {
		b.d.noIPv6.Store(true)
		err = asked.run(ctx, ask)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case res.timedOut:
		return nil, fmt.Errorf("it did not answer within %v", b.d.wait.launch)
	case res.oom:
		return nil, errors.New("its memory ran out before it had answered")
	case res.code != 0:
		// The script ends with 0 whatever it finds.
		return nil, errors.New("its container was ended before it had answered")
	}
	found, err := readFacts(out.String())
	if err == nil {
		found.told = res.told
	}
	return found, err
}

func (b *Backend) probeScript(image *resolved) string {
	env := append(append([]string{}, image.env...), "HOME=/tmp", "UV_CACHE_DIR=/tmp/fevalgraph-uv")
	env = append(env, b.opt.Env...)
	request := b.opt.Python
	if request == "" {
		// uv heeds it everywhere but in "python find".
		request, _ = getenv(b.opt.Env, "UV_PYTHON")
	}
	if request != "" {
		request = " " + quote(request)
	}
	var exports strings.Builder
	for _, variable := range env {
		if name, value, found := strings.Cut(variable, "="); found && isName(name) {
			exports.WriteString("export " + name + "=" + quote(value) + "\n")
		}
	}
	ask := `import platform; print(platform.python_implementation(), platform.python_version())`
	return "echo '" + wordPrefix + wordReady + "'\nexec >&2 </dev/null\ncd /\n" + exports.String() +
		`echo "` + probeMark + `uid $(id -u)"; echo "` + probeMark + `gid $(id -g)"` + "\n" +
		"p=$(uv python find --no-project" + request + " 2>/dev/null) || p=$(command -v python3) || p=\n" +
		"[ -n \"$p\" ] || exit 0\n" +
		`v=$("$p" -I -c ` + quote(ask) + ") || exit 0\n" +
		`echo "` + probeMark + `python $p"; echo "` + probeMark + `version $v"` + "\nexit 0\n"
}

// isName reports whether the shell can export a variable of that name.
func isName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func readFacts(text string) (*facts, error) {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		if fact, found := strings.CutPrefix(line, probeMark); found {
			name, value, _ := strings.Cut(strings.TrimSpace(fact), " ")
			said[name] = value
		}
	}
	found := &facts{python: said["python"], version: said["version"]}
	if found.python == "" || found.version == "" {
		found.python, found.version = "", noPython
	}
	var uidErr, gidErr error
	found.uid, uidErr = strconv.Atoi(said["uid"])
	found.gid, gidErr = strconv.Atoi(said["gid"])
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, fmt.Errorf("it does not say who its user is: %w: %s", err, strings.TrimSpace(text))
	}
	return found, nil
}
