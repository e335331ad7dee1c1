package lang

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// GoJudgeBackend is the schema of backend "gojudge".
type GoJudgeBackend struct {
	Endpoint    string   // "http://127.0.0.1:5050"; empty is a server of the run's own
	Binary      string   // of the server to start: a name or an absolute path
	Parallelism int      // of the server to start; 0 is its choice
	Versions    []string // shell commands whose output in the sandbox is part of the identity
}

func goJudgeKind() backendKind {
	return backendKind{schema: goJudgeSchema(), judges: true, decode: func(b *block, made *Backend) { made.GoJudge = b.goJudge(made) }}
}

// What a block has that names no program of its own.
const GoJudgeBinary = "go-judge"

// GoJudgeVersions are the versions of such a block.
var GoJudgeVersions = []string{"/usr/bin/g++ --version", "/usr/bin/python3 --version"}

func goJudgeSchema() BlockSchema {
	return BlockSchema{
		Name: "gojudge",
		Doc:  "Sandboxes of a go-judge server, for problems with a judge block.",
		Attributes: []AttributeSchema{
			{Name: "endpoint", Type: TypeText, Doc: "Address of a running go-judge, such as \"http://127.0.0.1:5050\". The default is to start one for the run."},
			{Name: "token", Type: TypeText, secrets: true, Doc: "What the server was started with as -auth-token."},
			{Name: "binary", Type: TypeText, Default: strconv.Quote(GoJudgeBinary), Doc: "Program to start without endpoint: a name in PATH, or an absolute path."},
			{Name: "parallelism", Type: TypeInteger, Doc: "Parallel requests of the started server. The default is one for each processor."},
			{Name: "versions", Type: TypeOneOrTexts, Default: fmt.Sprintf("[%q, %q]", GoJudgeVersions[0], GoJudgeVersions[1]), Doc: "Shell commands, run in the sandbox, whose output enters keys."},
		},
	}
}

// goJudge reads the attributes of a gojudge backend. There is no workspace that
// commands could set up, and programs see no more of an environment than their
// problem gives them.
func (b *block) goJudge(made *Backend) *GoJudgeBackend {
	b.noWorkspace("A gojudge backend runs single programs in an empty sandbox")
	j := &GoJudgeBackend{}
	made.Token = b.hidden("token")
	j.Endpoint = b.endpoint("endpoint")
	j.Binary, _ = b.text("binary")
	j.Versions, _ = b.texts("versions")
	j.Parallelism, _ = b.integer("parallelism", 1)
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

// noWorkspace refuses attributes about what a backend does not have.
func (b *block) noWorkspace(because string) {
	for _, name := range []string{"env", "setup", "setup_timeout"} {
		if b.attrs[name] != nil {
			b.reject(name, "bad-value", "No use here", fmt.Sprintf("%s; %s has no meaning there.", because, name), "")
		}
	}
}

// endpoint reads the address of a server, without a slash at its end.
func (b *block) endpoint(name string) string {
	text, g := b.text(name)
	if g != isSet {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		b.reject(name, "bad-value", "Bad endpoint", fmt.Sprintf("%q is not the address of a server.", text), `write such as "http://127.0.0.1:5050"`)
		return ""
	}
	return strings.TrimRight(text, "/")
}

// hidden reads a text that may be a secret. It enters no key and no output.
func (b *block) hidden(name string) string {
	v, g := b.value(b.schemaOf(name, TypeText))
	if g != isSet {
		return ""
	}
	text, err := convert.Convert(v, cty.String)
	if err != nil {
		b.wrongType(name, "a string", v.Type())
		return ""
	}
	if strings.ContainsFunc(text.AsString(), func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		b.reject(name, "bad-value", "Bad "+name, name+" holds a space or a control character.", "")
	}
	return text.AsString()
}
