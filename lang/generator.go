package lang

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Generator is one instance of a generator block. Evaluation ignores it.
type Generator struct {
	Name       string // the label, or label["key"]
	Ref        string // generator.small, generator.models["a"]
	Problems   []*Problem
	Endpoint   string // a URL; "" if Command is set
	Command    []string
	Env        []EnvVar
	Model      string
	Keys       []string      // names of secrets
	System     string        `hcl:"system"`
	Parameters string        // a JSON object; "" by default
	Attempts   int           `hcl:"attempts"`
	Directory  string        // absolute
	File       string        // "" means the problem's default
	Timeout    time.Duration `hcl:"timeout"`
	PerMinute  int           `hcl:"requests_per_minute"` // requests of each key; 0 means no limit
	AtOnce     int           `hcl:"concurrency"`         // as above; 0 means the default
	Price      *Price        // nil if unknown
	Retry      Retry
	Template   *Expr // of the prompt; nil means the default prompt
	Range      diag.Range
}

// ModelLabel returns the name of the model in its solutions.
func (g *Generator) ModelLabel() string { return cmp.Or(g.Model, g.Name) }

// Price is the price of a million tokens, in dollars.
type Price struct {
	Input  float64 `hcl:"input"`
	Output float64 `hcl:"output"`
}

// reservedParameters are the parameters that a generator sets itself.
var reservedParameters = []string{"model", "messages", "stream", "stream_options", "n"}

func (l *loader) evaluateGenerator(d *decl) {
	var made []*Generator
	for _, inst := range l.expandEach(d) {
		made = append(made, l.generator(d, inst))
	}
	d.made = made
}

func (l *loader) generator(d *decl, inst instance) *Generator {
	b := l.open(d, d.block, d.schema, inst.ctx)
	g := &Generator{Name: inst.name(d), Ref: inst.ref(d), Range: convertRange(d.header)}
	var set presence
	if g.Problems, set = axis(b, "problems", TypeProblems, l.instances.problems); set == isAbsent || set == isNull {
		g.Problems = l.everyProblem()
	}
	for _, p := range g.Problems {
		b.specsWithin(p)
	}
	b.whoAnswers(g)
	b.fill(g)
	g.Parameters = b.parameters()
	g.Directory = b.solutionsDir(d.name(), inst.key)
	g.File = b.unnamedFile()
	g.Template = b.expression("prompt", PromptShape, false)
	if limits := b.singleBlock("limits"); limits != nil {
		limits.fill(g)
	}
	if price := b.singleBlock("price"); price != nil {
		g.Price = &Price{}
		price.fill(g.Price)
	}
	g.Retry = Retry{Attempts: 5, Wait: 2 * time.Second}
	if r := b.singleBlock("retry"); r != nil {
		r.fill(&g.Retry)
	}
	return g
}

// specsWithin checks that the task texts of a problem, which are sent to the model, are files that the
// configuration may read.
func (b *block) specsWithin(p *Problem) {
	for _, c := range p.Checkpoints {
		if c.Spec != "" && !b.l.within(c.Spec) {
			b.fail(finding{
				code: "outside-project", summary: "Task text outside of the project", rng: b.header, hint: placeHint,
				detail: fmt.Sprintf("The spec %q of %s is outside of the project, and is not sent to a model.", b.l.show(c.Spec), p.Ref),
			})
		}
	}
}

// whoAnswers reads the model's address, name and parameters.
func (b *block) whoAnswers(g *Generator) {
	g.Model, _ = b.text("model")
	g.Keys = b.keys()
	command, byCommand := b.texts("command")
	env, _ := b.env("env")
	if byCommand == isFailed {
		return
	}
	if (byCommand == isSet) == (b.attrs["endpoint"] != nil) {
		b.fail(finding{
			code: "missing-attribute", summary: "Invalid combination of attributes", rng: b.header,
			detail: "A generator has exactly one of endpoint and command.", hint: `write such as endpoint = "http://127.0.0.1:8000/v1"`,
		})
		return
	}
	if byCommand == isSet {
		b.reportUnused("keys", "A command has what it needs in env.")
		b.reportUnused("parameters", "A command has arguments.")
		if g.Command, g.Env = command, env; len(command) == 0 || command[0] == "" {
			b.reject("command", "bad-value", "No program", "command must be a program with its arguments.", "")
		}
		return
	}
	b.reportUnused("env", "Only a command has an environment.")
	g.Endpoint = b.chatEndpoint(len(g.Keys) > 0)
	if g.Model == "" && b.attrs["model"] == nil {
		b.fail(finding{
			code: "missing-attribute", summary: "Missing attribute", rng: b.header,
			detail: `A generator with an endpoint needs the attribute "model".`, hint: "model: " + b.schema.Attribute("model").Doc,
		})
	}
}

// chatEndpoint reads the address of an API. Keys are not sent to it in the clear.
func (b *block) chatEndpoint(keys bool) string {
	text, _ := b.text("endpoint")
	u, err := url.Parse(text)
	switch {
	case err != nil || text == "":
	case strings.HasSuffix(u.Path, "/chat/completions"):
		b.reject("endpoint", "bad-value", "Bad endpoint", "An endpoint is a URL without /chat/completions.", fmt.Sprintf("write endpoint = %q", strings.TrimSuffix(text, "/chat/completions")))
	case keys && u.Scheme == "http" && !IsLoopback(u.Hostname()):
		b.reject("endpoint", "bad-value", "Unencrypted key", "A key is not sent to another machine unencrypted.", "write https://")
	}
	return text
}

// keys returns the names of the secrets that hold keys. They are read on use, so that users without keys
// can evaluate.
func (b *block) keys() []string {
	attr := b.attrs["keys"]
	b.schemaOf("keys", TypeSecrets)
	if attr == nil {
		return nil
	}
	if b.l.bad[attr.Expr.Range()] {
		b.decl.failed = true
		return nil
	}
	var names []string
	for _, expr := range elements(attr.Expr) {
		name := secretReference(expr)
		if name == "" {
			b.reject("keys", "wrong-type", "Wrong type", "keys must be a reference to a secret, or a list of such references.", "write keys = [secret.name], with a secret block for it")
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		b.reject("keys", "bad-value", "No keys", "keys is an empty list.", "omit it if no key is needed")
	}
	return names
}

// elements returns the expressions in a list, or the expression itself.
func elements(expr hclsyntax.Expression) []hclsyntax.Expression {
	if list, ok := expr.(*hclsyntax.TupleConsExpr); ok {
		return list.Exprs
	}
	return []hclsyntax.Expression{expr}
}

// secretReference returns the name in secret.<name>, or "" for other expressions.
func secretReference(expr hclsyntax.Expression) string {
	ref, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || ref.Traversal.RootName() != "secret" || len(ref.Traversal) != 2 {
		return ""
	}
	name, _ := stepName(ref.Traversal, 1)
	return name
}

// parameters returns the parameters as JSON.
func (b *block) parameters() string {
	v, g := b.value(b.schemaOf("parameters", TypeAny))
	if g != isSet {
		return ""
	}
	if t := v.Type(); !t.IsObjectType() && !t.IsMapType() {
		b.wrongType("parameters", "an object", t)
		return ""
	}
	for it := v.ElementIterator(); it.Next(); {
		key, _ := it.Element()
		if name := key.AsString(); slices.Contains(reservedParameters, name) {
			hint := ""
			if name == "model" {
				hint = "write model = … in the block"
			} else if name == "n" {
				hint = "write attempts = … in the block"
			}
			b.reject("parameters", "bad-value", "Bad parameter", fmt.Sprintf("%s is a parameter that fevalgraph sets.", name), hint)
			return ""
		}
	}
	text, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		b.reject("parameters", "bad-value", "Bad parameters", fmt.Sprintf("JSON cannot represent them: %v.", err), "")
	}
	return string(text)
}

// solutionsDir returns the directory for solutions.
func (b *block) solutionsDir(label, key string) string {
	dir, g := b.path("directory")
	switch {
	case g == isFailed:
		return ""
	case g != isSet:
		return filepath.Join(b.l.root, "generated", label, FileName(key))
	case !b.l.within(dir):
		b.reject("directory", "outside-project", "Solutions outside of the project",
			fmt.Sprintf("%q is outside of the project. Solutions are written into its directory, and into directories that the user passes as the value of a variable.", b.l.show(dir)), placeHint)
	case dir == b.l.root:
		b.reject("directory", "bad-path", "Bad path", "Solutions need a separate directory.", `such as "generated"`)
	}
	return dir
}

func (b *block) unnamedFile() string {
	file, g := b.text("file")
	if g == isSet && !isRelativeInside(file) {
		b.reject("file", "bad-path", "Bad path", fmt.Sprintf("file must be a path within the solution, not %q.", file), "")
	}
	return file
}

// FileName encodes a name as a unique file name: characters other than letters, digits and a few signs are
// written as "%" and two hexadecimal digits.
func FileName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// PromptShape is the type of self in the prompt of a generator.
var PromptShape = cty.Object(map[string]cty.Type{
	"problem": cty.String, "title": cty.String, "description": cty.String, "checkpoint": cty.String,
	"spec": cty.String, "entry": cty.String, "file": cty.String, "code": cty.String, "attempt": cty.Number,
})

// PromptInput contains the values that a prompt can use.
type PromptInput struct {
	Problem, Title, Description, Checkpoint string
	Spec                                    string // the task text
	Entry                                   string // command that starts a solution
	File                                    string // path of code without a name
	Code                                    string // of the previous checkpoint, as fenced blocks; "" for the first
	Attempt                                 int
}

// PromptSource returns the text of the prompt's expression for keys, or "" for the default prompt.
func (g *Generator) PromptSource() string {
	if g.Template == nil {
		return ""
	}
	return g.Template.Source()
}

// Prompt evaluates the prompt's expression, which must be set. It is safe for concurrent use.
func (g *Generator) Prompt(in PromptInput) (string, error) {
	v, findings := g.Template.Eval(cty.ObjectVal(map[string]cty.Value{
		"problem": cty.StringVal(in.Problem), "title": cty.StringVal(in.Title), "description": cty.StringVal(in.Description),
		"checkpoint": cty.StringVal(in.Checkpoint), "spec": cty.StringVal(in.Spec), "entry": cty.StringVal(in.Entry),
		"file": cty.StringVal(in.File), "code": cty.StringVal(in.Code), "attempt": cty.NumberIntVal(int64(in.Attempt)),
	}))
	if findings.HasErrors() {
		return "", findings
	}
	if v, _ = v.Unmark(); v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return "", fmt.Errorf("%s: the prompt of %s is not a text", g.Template.Range(), g.Ref)
	}
	return v.AsString(), nil
}
