package lang

import (
	"fmt"
	"strconv"
)

// GoJudgeBackend is the schema of backend "gojudge".
type GoJudgeBackend struct {
	Endpoint    string   `hcl:"endpoint"`    // "http://127.0.0.1:5050"; empty is a server of the run's own
	Binary      string   `hcl:"binary"`      // of the server to start: a name or an absolute path
	Parallelism int      `hcl:"parallelism"` // of the server to start; 0 means the server's default
	Versions    []string `hcl:"versions"`    // shell commands whose output in the sandbox is part of the identity
}

func goJudgeKind() backendKind {
	return backendKind{schema: goJudgeSchema(), judges: true, decode: func(b *block, made *Backend) { made.GoJudge = b.goJudge() }}
}

// GoJudgeBinary is the program of a block that does not name one.
const GoJudgeBinary = "go-judge"

// GoJudgeVersions are the versions of such a block.
var GoJudgeVersions = []string{"/usr/bin/g++ --version", "/usr/bin/python3 --version"}

func goJudgeSchema() BlockSchema {
	return BlockSchema{
		Name: "gojudge",
		Doc:  "Sandboxes of a go-judge server, for problems with a judge block.",
		Attributes: []AttributeSchema{
			{Name: "endpoint", Type: TypeText, form: endpoint, Doc: "Address of a running go-judge, such as \"http://127.0.0.1:5050\". The default is to start one for the run."},
			{Name: "token", Type: TypeText, secrets: true, form: token, Doc: "What the server was started with as -auth-token."},
			{Name: "binary", Type: TypeText, Default: strconv.Quote(GoJudgeBinary), Doc: "Program to start without endpoint: a name in PATH, or an absolute path."},
			{Name: "parallelism", Type: TypeInteger, Doc: "Parallel requests of the started server. The default is one for each processor."},
			{Name: "versions", Type: TypeOneOrTexts, Default: fmt.Sprintf("[%q, %q]", GoJudgeVersions[0], GoJudgeVersions[1]), Doc: "Shell commands, run in the sandbox, whose output enters keys."},
		},
	}
}

// goJudge reads the attributes of a gojudge backend. It has no workspace for set-up commands, and programs
// see only the environment that their problem specifies.
func (b *block) goJudge() *GoJudgeBackend {
	b.noWorkspace("A gojudge backend runs single programs in an empty sandbox")
	j := &GoJudgeBackend{}
	b.fill(j)
	if j.Endpoint == "" {
		return j
	}
	for _, name := range []string{"binary", "parallelism"} {
		if b.attrs[name] != nil {
			b.reject(name, "bad-value", "No use here", fmt.Sprintf("%s is about a go-judge that is started for the run; this one runs at %s already.", name, j.Endpoint), "remove one of the two")
		}
	}
	return j
}

// noWorkspace rejects attributes about the workspace, which this backend lacks.
func (b *block) noWorkspace(because string) {
	for _, name := range []string{"env", "setup", "setup_timeout"} {
		if b.attrs[name] != nil {
			b.reject(name, "bad-value", "No use here", fmt.Sprintf("%s; %s has no meaning there.", because, name), "")
		}
	}
}
