package lang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/frozen"
)

// BackendKind describes the blocks of a kind of backend. Options hand kinds over. Only the kind local is part of
// the language, because the backend local.host exists without a block.
type BackendKind struct {
	// Schema has the kind as name, and the rows that the blocks have beyond those of all backends. Rows whose
	// names are hcl tags of Backend, Container or Machines fill these, and all others the attributes of the
	// kind. A row image makes a Container, with mount blocks, and a block resources makes Machines.
	Schema BlockSchema
	// Judges restricts backends of the kind to problems with a judge block.
	Judges bool

	empty func() any // returns a pointer to the attributes
	check func(b *Block, made *Backend, attributes any)
}

// NewBackendKind returns a kind whose attributes are the fields of T with hcl tags. check, which can be nil, rejects
// what no row can, and completes made and attributes.
func NewBackendKind[T any](schema BlockSchema, check func(b *Block, made *Backend, attributes *T)) BackendKind {
	k := BackendKind{Schema: schema, empty: func() any { return new(T) }}
	if check != nil {
		k.check = func(b *Block, made *Backend, attributes any) { check(b, made, attributes.(*T)) }
	}
	return k
}

// decode reads the rows of the kind in a block into made.
func (k *BackendKind) decode(b *block, made *Backend) {
	made.Judges, made.Commands = k.Judges, !k.Judges
	if b.schema.Attribute("image") != nil {
		made.Container = b.container()
	}
	if b.schema.Block("resources") != nil {
		made.Machines = &Machines{Resources: b.resources()}
		b.fill(made.Machines)
	}
	for _, a := range k.Schema.Attributes {
		made.Sensitive = made.Sensitive || a.Secrets && a.Name != "token" && b.Has(a.Name)
	}
	if k.empty == nil {
		return
	}
	attributes := k.empty()
	b.fill(attributes)
	if k.check != nil {
		k.check(b, made, attributes)
	}
	made.Attributes = NewAttributes(attributes)
}

// Attributes are what only the kind of a backend knows of its block. The language keeps them as bytes, in the form
// of package frozen, so that configurations can be compared and archived; see AttributesOf.
type Attributes string

// NewAttributes encodes the struct that v points to.
func NewAttributes(v any) Attributes {
	text, err := frozen.Append(nil, v)
	if err != nil {
		panic(fmt.Sprintf("lang: attributes of a kind of backend: %v", err))
	}
	return Attributes(text)
}

// AttributesOf returns the attributes of a backend. T is the type that its kind was made with.
func AttributesOf[T any](b *Backend) *T {
	v := new(T)
	if b.Attributes != "" {
		if err := frozen.Decode(string(b.Attributes), v); err != nil {
			panic(fmt.Sprintf("lang: attributes of %s: %v", b.Addr(), err))
		}
	}
	return v
}

// Block is a block that is being decoded, as forms and kinds of backends see it.
type Block = block

// Has reports whether the block sets an attribute, be it to null.
func (b *block) Has(name string) bool { return b.attrs[name] != nil }

// Null reports whether the block sets an attribute to null.
func (b *block) Null(name string) bool {
	_, g := b.marked(b.schema.Attribute(name))
	return g == isNull
}

// Reject reports an error in an attribute's value. Code, summary, detail and hint are those of a diagnostic.
func (b *block) Reject(name, code, summary, detail, hint string) {
	b.reject(name, code, summary, detail, hint)
}

// RejectWorkspace rejects attributes about a workspace, for a kind that has none. because is a sentence without
// its full stop.
func (b *block) RejectWorkspace(because string) {
	for _, name := range []string{"env", "setup", "setup_timeout"} {
		if b.Has(name) {
			b.reject(name, "bad-value", "No use here", fmt.Sprintf("%s; %s has no meaning there.", because, name), "")
		}
	}
}

// DefaultTexts returns the default of a row that is a list of strings.
func DefaultTexts(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
