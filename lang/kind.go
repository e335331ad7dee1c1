package lang

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/frozen"
)

// BackendKind describes the blocks of a kind of backend. Options contain the kinds. Only the kind local is
// part of the language, because the backend local.host exists without a block.
type BackendKind struct {
	// Schema has the kind as name, and the rows that blocks have beyond those of all backends. A row image makes a
	// Container, with mount blocks, and a block resources makes Machines.
	Schema BlockSchema
	// Attributes is a zero struct. Rows fill its fields with their names as hcl tags, as for Backend,
	// Container and Machines. The tag keys:"-" marks a field that does not change verdicts, is secret, or
	// whose content has separate nodes.
	Attributes any
	// Check rejects combinations that no row can reject, and completes made and attributes, a pointer to the
	// struct. It can be nil.
	Check func(b *Block, made *Backend, attributes any)
	// NoCommands is set for kinds that evaluate only problems with a judge block: the reason, as a sentence without
	// its full stop.
	NoCommands string
}

// decode reads the rows of the kind in a block into made.
func (k *BackendKind) decode(b *block, made *Backend) {
	made.Judges, made.Commands = k.NoCommands != "", k.NoCommands == ""
	for _, name := range []string{"env", "setup", "setup_timeout"} {
		if made.Judges && b.Has(name) {
			b.reject(name, "bad-value", "Attribute does not apply", fmt.Sprintf("%s; %s does not apply there.", k.NoCommands, name), "")
		}
	}
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
	if k.Attributes == nil {
		return
	}
	attributes := k.newAttributes()
	b.fill(attributes)
	if k.Check != nil {
		k.Check(b, made, attributes)
	}
	made.Attributes = NewAttributes(attributes)
}

// Attributes returns a pointer to the attributes of a backend's kind, for callers that do not know the
// kind; nil if it has none.
func (x *Extensions) Attributes(b *Backend) any {
	for _, k := range x.backendKinds() {
		if k.Schema.Name == b.Kind && k.Attributes != nil {
			return b.attributes(k.newAttributes())
		}
	}
	return nil
}

// attributes decodes the attributes into the struct that v points to, and returns v.
func (b *Backend) attributes(v any) any {
	if b.Attributes != "" {
		if err := frozen.Decode([]byte(b.Attributes), v); err != nil {
			panic(fmt.Sprintf("lang: attributes of %s: %v", b.Addr(), err))
		}
	}
	return v
}

// newAttributes returns a pointer to new attributes of the kind.
func (k *BackendKind) newAttributes() any {
	return reflect.New(reflect.TypeOf(k.Attributes)).Interface()
}

// Attributes are the values in the block of a backend that only its kind reads, see AttributesOf. They are in the form
// of package frozen, so that configurations can be compared and archived.
type Attributes string

// NewAttributes encodes the struct that v points to.
func NewAttributes(v any) Attributes {
	text, err := frozen.Append(nil, v)
	if err != nil {
		panic(fmt.Sprintf("lang: attributes of a kind of backend: %v", err))
	}
	return Attributes(text)
}

// AttributesOf decodes the attributes of a backend. T is the type of BackendKind.Attributes.
func AttributesOf[T any](b *Backend) *T {
	return b.attributes(new(T)).(*T)
}

// Block is the view of a block during decoding for forms and kinds of backends.
type Block = block

// Has reports whether the block sets an attribute, even to null.
func (b *block) Has(name string) bool { return b.attrs[name] != nil }

// Reject reports an error in an attribute's value. Code, summary, detail and hint are those of a diagnostic.
func (b *block) Reject(name, code, summary, detail, hint string) {
	b.reject(name, code, summary, detail, hint)
}

// DefaultTexts returns the default of a row that is a list of strings, which contain no quotes.
func DefaultTexts(texts []string) string { return `["` + strings.Join(texts, `", "`) + `"]` }
