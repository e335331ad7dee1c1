package docker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
)

// attributes holds the attributes of a block, besides its lang.Container. Empty strings and zero mean the
// default of the daemon or of the image, or no limit.
type attributes struct {
	Pull     string  `hcl:"pull" keys:"-"` // "missing", "always", "never"
	Platform string  `hcl:"platform"`      // "linux/arm64"
	Network  string  `hcl:"network"`       // "none", "bridge" for a private network, or the name of a network
	User     string  `hcl:"user"`          // name or number, either with ":group"
	Workdir  string  `hcl:"workdir"`       // absolute, clean
	CPUs     float64 `hcl:"cpus"`
	Memory   int64   `hcl:"memory"` // bytes
	Pids     int     `hcl:"pids"`
}

// block returns the blocks of backend "docker".
func block() lang.BackendKind {
	return lang.BackendKind{Attributes: attributes{}, Schema: lang.BlockSchema{
		Name: Kind,
		Doc:  "Containers of the Docker daemon that DOCKER_HOST names, or this machine's.",
		Attributes: slices.Concat(lang.Inheritance("[]", passthrough), []lang.AttributeSchema{
			{Name: "image", Type: lang.TypeText, Form: lang.FormImage, Doc: "Image: a reference such as \"python:3.12-slim\", or an ID. The ID enters keys."},
			{Name: "dockerfile", Type: lang.TypeText, Path: true, Doc: "Path of a Dockerfile to build the image from, instead of image."},
			{Name: "context", Type: lang.TypeText, Path: true, Doc: "Directory of the build's files, except those in .dockerignore. The default is the Dockerfile's."},
			{Name: "build_args", Type: lang.TypeMap, Doc: "Values of the Dockerfile's ARGs. They enter keys and stay readable in the image: secrets are refused."},
			{Name: "pull", Type: lang.TypeText, Default: `"missing"`, Values: []string{"missing", "always", "never"}, Doc: "When images are pulled: if the daemon lacks them, once per run, or never."},
			{Name: "platform", Type: lang.TypeText, Form: lang.FormMatching("platform", platformText, `a platform, such as "linux/arm64"`), Default: `""`, Doc: "Platform of the image, such as \"linux/arm64\". The default is the daemon's own."},
			{Name: "network", Type: lang.TypeText, Form: networkForm, Default: `"none"`, Doc: "Network of the tests: \"none\"; \"bridge\", private and with access to the machine's; or the name of a network. With \"none\", set-up still gets \"bridge\"."},
			{Name: "user", Type: lang.TypeText, Form: lang.FormUser, Default: `""`, Doc: "User of commands: a name or number, optionally with \":group\". The default is the image's user, or 1000:1000 if that is root."},
			{Name: "workdir", Type: lang.TypeText, Form: lang.FormInContainer, Default: `"/workspace"`, Doc: "Absolute path of the workspace in the container."},
			{Name: "cpus", Type: lang.TypeNumber, Doc: "Processors of a container, such as 1.5. Unlimited by default."},
			{Name: "memory", Type: lang.TypeSize, Doc: "Memory of a container without swap, such as \"2GiB\". Unlimited by default."},
			{Name: "pids", Type: lang.TypeInteger, Default: "4096", Unlimited: true, Doc: "Processes and threads of a container at a time; null means no limit."},
			{Name: "gpus", Type: lang.TypeText, Form: lang.FormMatching("gpus", gpusText, `"all", a number above 0, or "device=" and ids, such as "device=0,1"`), Default: `""`, Doc: "\"all\", a number, or \"device=\" and a list of ids. None by default."},
			{Name: "python", Type: lang.TypeText, Default: `""`, Doc: "Interpreter that uv selects in the container, such as \"3.12\", for pytest and, as UV_PYTHON, for set-up commands and tests. The default is uv's choice."},
			{Name: "keep", Type: lang.TypeText, Default: `"never"`, Values: []string{"never", "failed", "always"}, Doc: "Which containers are kept for you to enter: none; those of failed or broken programs; or all."},
		}),
		Blocks: []lang.BlockSchema{{
			Name: "mount", Repeats: true,
			Doc: "A file or directory of the daemon's machine that containers see.",
			Attributes: []lang.AttributeSchema{
				{Name: "source", Type: lang.TypeText, Path: true, Required: true, Doc: "Path, relative to the file that contains it. It must exist."},
				{Name: "target", Type: lang.TypeText, Form: lang.FormInContainer, Required: true, Doc: "Absolute path in the container."},
				{Name: "read_only", Type: lang.TypeBool, Default: "true", Doc: "Keep containers from writing to it."},
				{Name: "content", Type: lang.TypeText, Default: `"hashed"`, Values: []string{"hashed", "unhashed"}, Doc: "Whether its content enters keys. Must be \"unhashed\" if containers write to it, or the daemon is on another machine."},
			},
		}},
	}}
}

// Forms of strings in a block. Whether names exist, only the daemon knows.
var (
	platformText = lazyregexp.New(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)
	gpusText     = lazyregexp.New(`^(all|[1-9][0-9]*|device=[^\s,]+(,[^\s,]+)*)$`)
	networkText  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

// networkForm checks names of networks.
func networkForm(b *lang.Block, name, text string) (string, bool) {
	switch {
	case text == "host" || strings.HasPrefix(text, "container:"):
		b.Reject(name, "bad-value", "Shared network", fmt.Sprintf("Containers need a private network, and %q is shared.", text), `"bridge" reaches what the machine reaches; "none" reaches nothing`)
	case !networkText().MatchString(text):
		b.Reject(name, "bad-value", "Bad network", fmt.Sprintf("%q is not a valid name of a network.", text), `"none", "bridge", or what "docker network ls" lists`)
	default:
		return text, true
	}
	return "", false
}

// passthrough omits variables with paths of the caller's machine.
const passthrough = `[
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
  "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL",
  "UV_HTTP_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_HTTP_RETRIES",
]`
