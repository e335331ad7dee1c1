package lang

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

func (l *loader) evaluateSecret(d *decl) cty.Value {
	b := l.open(d, d.block, d.schema, l.scope(d))
	s := Secret{Name: d.name(), Range: convertRange(d.header)}
	name, fromEnv := b.text("env")
	file, fromFile := b.path("file")
	if fromEnv == isFailed || fromFile == isFailed {
		return cty.DynamicVal
	}
	switch {
	case (fromEnv == isSet) == (fromFile == isSet):
		b.fail(finding{
			code: "missing-attribute", summary: "Invalid combination of attributes", rng: b.header,
			detail: "A secret has exactly one of env and file.",
		})
		return cty.DynamicVal
	case fromEnv == isSet:
		s.Env = name
		l.input("env", name)
		if _, set := l.options.Env(name); !set && !l.forGeneratorsAlone(d) {
			l.unsetSecret(d, b)
			return cty.DynamicVal
		}
	default:
		if !l.within(file) {
			b.fail(b.at("file").outside(&funcs.OutsideError{Path: l.show(file)}))
			return cty.DynamicVal
		}
		s.File = file
		if _, ok := b.stat("file", file, ""); !ok {
			return cty.DynamicVal
		}
		l.input("file", file)
	}
	err := l.checkEditable(s.File)
	if err == nil {
		s.Value, err = s.Read(l.options.Env)
	}
	if err != nil {
		b.reject("file", "unreadable-file", "Unreadable file", pathReason(l.show(file), err), "")
		return cty.DynamicVal
	}
	d.made = s
	l.keepSecret(cty.StringVal(s.Value))
	return cty.StringVal(s.Value).Mark(secretMark(d.name()))
}

// Read returns the current value of the secret. An unset variable reads as "".
func (s Secret) Read(env func(name string) (string, bool)) (string, error) {
	if s.Env != "" {
		value, _ := env(s.Env)
		return value, nil
	}
	text, err := os.ReadFile(s.File)
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), err
}

// forGeneratorsAlone reports whether only generators use a secret. They report a missing value when they
// need it, and evaluation works without it.
func (l *loader) forGeneratorsAlone(d *decl) bool {
	used := false
	for _, other := range l.decls {
		if slices.ContainsFunc(other.needs, func(n need) bool { return n.to == d }) {
			if used = true; other.kind != "generator" {
				return false
			}
		}
	}
	return used
}

// unsetSecret reports a missing value only if the secret is used: users without it can still inspect a
// configuration.
func (l *loader) unsetSecret(d *decl, b *block) {
	used := slices.ContainsFunc(l.decls, func(other *decl) bool {
		return slices.ContainsFunc(other.needs, func(n need) bool { return n.to == d })
	})
	f := b.at("env")
	f.warning = !used
	f.code, f.summary = "unset-secret", "Secret without a value"
	f.detail = fmt.Sprintf("The environment variable of secret.%s is not set.", d.name())
	b.fail(f)
	d.failed = true
}
