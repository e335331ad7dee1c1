package lang

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

const variableEnvPrefix = "FEVALGRAPH_VAR_"

// outsideValue is a variable's value before it is converted.
type outsideValue struct {
	value  cty.Value
	source string  // for messages
	at     finding // the range for errors
}

// assignments contains the values from outside, which can be for undeclared variables.
type assignments struct {
	flags map[string]string // --var; the last value wins
	order []string          // names in flags, as first given
	files []*source         // --var-file, then *.auto.vars.hcl: within each kind, a later file wins
	given int               // number of --var-file in files
}

// readAssignments collects --var, --var-file and *.auto.vars.hcl and reports
// names that no variable block declares.
func (l *loader) readAssignments() {
	l.outside.flags = map[string]string{}
	for _, flag := range l.options.Vars {
		name, value, found := strings.Cut(flag, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			l.report(finding{code: "bad-variable", summary: "Bad --var", detail: fmt.Sprintf("--var %q is not NAME=VALUE.", flag), hint: "write --var name=value"})
			continue
		}
		l.input("var", name)
		if _, before := l.outside.flags[name]; !before {
			l.outside.order = append(l.outside.order, name)
		}
		l.outside.flags[name] = value
	}
	for _, name := range l.outside.order {
		l.checkAssigned(name, finding{detail: fmt.Sprintf("--var %s: ", name)})
	}
	for _, file := range l.options.VarFiles {
		l.addAssignments(l.files(l.base).Resolve(file))
	}
	l.outside.given = len(l.outside.files)
	for _, file := range l.siblings(autoVarSuffix) {
		l.addAssignments(file)
	}
}

func (l *loader) addAssignments(path string) {
	src := l.parse(path, &finding{})
	if src == nil || src.body == nil {
		l.unresolved = true
		return
	}
	for _, b := range src.body.Blocks {
		l.report(finding{
			code: "unknown-block", summary: "Unknown block", rng: b.DefRange(),
			detail: "A file of variables can contain only assignments.", hint: "write name = value",
		})
	}
	for _, attr := range sortedAttributes(src.body.Attributes) {
		l.checkAssigned(attr.Name, finding{rng: attr.NameRange})
		if d := l.byAddr["variable."+attr.Name]; d != nil {
			l.uses = append(l.uses, use{d, spanOf(src, attr.NameRange)})
		}
	}
	l.outside.files = append(l.outside.files, src)
}

func (l *loader) checkAssigned(name string, at finding) {
	if l.byAddr["variable."+name] != nil {
		return
	}
	var candidates []string
	for _, d := range l.decls {
		if d.kind == "variable" {
			candidates = append(candidates, d.name())
		}
	}
	at.code, at.summary = "unknown-variable", "Unknown variable"
	at.detail += fmt.Sprintf("No variable is named %q.", name)
	at.hint = didYouMean(name, candidates, "")
	if len(candidates) == 0 {
		at.hint = "no variable is declared"
	}
	l.report(at)
}

// variableValue returns the value of b's variable, or reports that it is missing and returns nil.
func (b *block) variableValue(wanted cty.Type) *outsideValue {
	l, name := b.l, b.label()
	if text, ok := l.outside.flags[name]; ok {
		return b.fromText(text, "--var", "--var "+name, wanted)
	}
	if v, found := b.fromFiles(l.outside.files[:l.outside.given]); found {
		return v
	}
	l.input("env", variableEnvPrefix+name)
	if text, ok := l.options.Env(variableEnvPrefix + name); ok {
		return b.fromText(text, "environment "+variableEnvPrefix+name, variableEnvPrefix+name, wanted)
	}
	if v, found := b.fromFiles(l.outside.files[l.outside.given:]); found {
		return v
	}
	a := b.schemaOf("default", TypeAny)
	if attr := b.attrs[a.Name]; attr != nil {
		v, ok := b.evaluate(attr.Expr)
		if !ok {
			return nil
		}
		v, marks := v.UnmarkDeep()
		if secretName(marks) != "" {
			b.reject("default", "sensitive-value", "Sensitive value", "The default of a variable cannot be another sensitive value.", "refer to that variable instead")
			return nil
		}
		return &outsideValue{v, "default", b.at("default")}
	}
	b.fail(finding{
		code: "missing-value", summary: "Variable without a value", rng: b.header,
		detail: fmt.Sprintf("var.%s has neither a value nor a default.", name),
		hint: cmp.Or(l.hintFile(), fmt.Sprintf("pass --var %s=…, or set %s%s, or write %s = … in a file that --var-file names or, unless it is a path outside of the project, in *%s",
			name, variableEnvPrefix, name, name, autoVarSuffix)),
	})
	return nil
}

// hintFile returns how to pass a file of values next to the configuration, such as that of `init`, or "".
func (l *loader) hintFile() string {
	if len(l.options.VarFiles) > 0 {
		return ""
	}
	for _, file := range l.siblings(varSuffix) {
		if !strings.HasSuffix(file, autoVarSuffix) {
			return "pass --var-file " + filepath.Base(file)
		}
	}
	return ""
}

// fromFiles returns the value in the last file that sets it.
func (b *block) fromFiles(files []*source) (*outsideValue, bool) {
	for i := len(files) - 1; i >= 0; i-- {
		attr := files[i].body.Attributes[b.label()]
		if attr == nil {
			continue
		}
		v, problems := attr.Expr.Value(nil)
		for _, p := range problems {
			b.fail(fromHCL(p, ""))
		}
		if problems.HasErrors() {
			return nil, true
		}
		return &outsideValue{v, "file " + files[i].shown, finding{rng: attr.Expr.Range()}}, true
	}
	return nil, false
}

// fromText parses a value: literally if the variable is a string, number or bool, and otherwise as an HCL
// expression.
func (b *block) fromText(text, source, shown string, wanted cty.Type) *outsideValue {
	at := finding{}
	if wanted == cty.DynamicPseudoType {
		wanted = b.defaultType()
	}
	if wanted.IsPrimitiveType() {
		return &outsideValue{cty.StringVal(text), source, at}
	}
	expr, problems := parseExpression([]byte(text), shown)
	var v cty.Value
	if !problems.HasErrors() {
		v, problems = expr.Value(nil)
	}
	if problems.HasErrors() {
		at.code, at.summary = "wrong-type", "Wrong type"
		at.detail = fmt.Sprintf("%s is not an HCL value of the variable's type: %s", shown, problems[0].Detail)
		at.hint = `write such as '["a", "b"]' or '{ a = 1 }'`
		b.fail(at)
		return nil
	}
	return &outsideValue{v, source, at}
}

// defaultType returns the type for text assigned to an untyped variable: its default's type, or string.
func (b *block) defaultType() cty.Type {
	if attr := b.attrs["default"]; attr != nil && !b.l.bad[attr.Expr.Range()] {
		if v, problems := attr.Expr.Value(b.ctx); !problems.HasErrors() && v.Type() != cty.DynamicPseudoType {
			return v.Type()
		}
	}
	return cty.String
}
