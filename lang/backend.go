package lang

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// backendKinds returns the kinds of backends, in the order of the documentation.
func (x *Extensions) backendKinds() []BackendKind {
	return append([]BackendKind{localKind()}, x.Kinds...)
}

// kindOf finds a kind by name. It returns the zero BackendKind if the name is unknown.
func (l *loader) kindOf(name string) BackendKind {
	for _, k := range l.options.backendKinds() {
		if k.Schema.Name == name {
			return k
		}
	}
	return BackendKind{}
}

func (l *loader) evaluateBackend(d *decl) cty.Value {
	b := &block{l: l, src: d.src, decl: d, schema: l.topSchema("backend").ForKind(d.path[0]), ctx: l.scope(d), header: d.header}
	if d.block != nil {
		b = l.open(d, d.block, d.schema, l.scope(d))
	}
	made := &Backend{Kind: d.path[0], Name: d.path[1], Pool: cpuPool, Range: convertRange(d.header)}
	if name, g := b.reference("pool", TypePool, "pool."); g == isSet {
		made.Pool = strings.TrimPrefix(name, "pool.")
	}
	b.fill(made)
	made.Retry = b.retry()
	kind := l.kindOf(made.Kind)
	kind.decode(b, made)

	l.instances.backends[d.addr()] = made
	d.made = made
	value := cty.ObjectVal(map[string]cty.Value{
		"ref":  cty.StringVal(d.addr()),
		"kind": cty.StringVal(made.Kind),
		"name": cty.StringVal(made.Name),
		"addr": cty.StringVal(made.Addr()),
	})
	l.instances.values[d.addr()] = value
	return value
}

// retry reads the retry block of a backend or suite, and returns nil if it has none.
func (b *block) retry() *Retry {
	r := b.singleBlock("retry")
	if r == nil {
		return nil
	}
	made := &Retry{}
	r.fill(made)
	return made
}

// reference reads an attribute that names a declaration, and returns its ref.
func (b *block) reference(name string, kind AttributeType, prefix string) (string, presence) {
	v, g := b.value(b.schemaOf(name, kind))
	if g != isSet {
		return "", g
	}
	ref := refOf(v)
	if !strings.HasPrefix(ref, prefix) {
		b.wrongType(name, "a "+string(kind)+", such as "+prefix+"name", v.Type())
		return "", isFailed
	}
	return ref, isSet
}

// refOf returns the ref attribute of a value that represents a declaration, or "" for any other value.
func refOf(v cty.Value) string {
	if v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute("ref") {
		return ""
	}
	ref := v.GetAttr("ref")
	if ref.Type() != cty.String || ref.IsNull() {
		return ""
	}
	return ref.AsString()
}
