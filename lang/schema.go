package lang

import "slices"

// BlockSchema describes one kind of block: its content and its meaning. Schema returns the table that
// decoding itself uses.
type BlockSchema struct {
	Name       string            `json:"name"`
	Labels     []string          `json:"labels,omitempty"` // the meaning of each label: "name", "kind"
	Doc        string            `json:"doc"`
	Repeats    bool              `json:"repeats,omitempty"` // can be repeated
	Required   bool              `json:"required,omitempty"`
	Attributes []AttributeSchema `json:"attributes,omitempty"`
	Blocks     []BlockSchema     `json:"blocks,omitempty"` // nested
	Kinds      []BlockSchema     `json:"kinds,omitempty"`  // additions for a first label of that name
	Free       bool              `json:"free,omitempty"`   // accepts any attribute: locals

	title string   // name in messages, if not Name
	later []string // kinds and nested blocks of a later version
	axes  bool     // attributes are matrix axes
}

// AttributeSchema describes one attribute.
type AttributeSchema struct {
	Name     string        `json:"name"`
	Type     AttributeType `json:"type"`
	Required bool          `json:"required,omitempty"`
	Default  string        `json:"default,omitempty"` // HCL text of a fixed default; Doc describes computed ones
	Values   []string      `json:"values,omitempty"`  // allowed values
	Doc      string        `json:"doc"`
	Path     bool          `json:"path,omitempty"`   // a file or directory, relative to the file that contains the attribute
	Scope    string        `json:"scope,omitempty"`  // name in scope besides the global ones: checkpoint, cell, self; or static, outside
	Refers   []string      `json:"refers,omitempty"` // prefixes of the references that it accepts; set by Schema

	Secrets   bool `json:"-"` // accepts secret values
	Unlimited bool `json:"-"` // null means 0 for a whole number: no limit
	zero      bool // a number or duration can be 0, and a TypeNumber even negative
	bounded   bool // a duration that cannot be null, which would mean no limit
	Form      Form `json:"-"` // of a string, or of the strings of a list; nil accepts any
}

// AttributeType is the type of an attribute, as shown to users.
type AttributeType string

// The types of attributes.
const (
	TypeText       AttributeType = "string"
	TypeInteger    AttributeType = "whole number"
	TypeIntegers   AttributeType = "list(whole number)" // also accepts a set or tuple
	TypeNumber     AttributeType = "number"             // with a fraction
	TypeBool       AttributeType = "bool"
	TypeDuration   AttributeType = "duration"       // "20s", "1h30m"
	TypeSize       AttributeType = "size"           // "512MiB", "5GB"
	TypeTexts      AttributeType = "list(string)"   // also accepts a set or tuple
	TypeOneOrTexts AttributeType = "string or list" // of strings
	TypeMap        AttributeType = "map(string)"
	TypeForEach    AttributeType = "map, set or list of strings"
	TypeProblem    AttributeType = "problem"
	TypeProblems   AttributeType = "problems" // a single one, or a list, set or map of them
	TypeSecrets    AttributeType = "secrets"  // a single one, or a list of them, as references
	TypeSuite      AttributeType = "suite"
	TypePool       AttributeType = "pool"
	TypeSolutions  AttributeType = "solutions" // a single one, or a list, set or map of them
	TypeBackends   AttributeType = "backends"
	TypeBackend    AttributeType = "backend"
	TypeSource     AttributeType = "path or output" // a string, or an output of a task
	TypeSources    AttributeType = "map of paths and outputs"
	TypeAny        AttributeType = "any"
	TypeType       AttributeType = "type"       // string, list(string), object({…}) …
	TypeNames      AttributeType = "names"      // identifiers, not evaluated
	TypeExpression AttributeType = "expression" // evaluated later, with self in scope
)

// refers returns the prefixes of references that a value of the type can contain.
func (t AttributeType) refers() []string {
	switch t {
	case TypeProblem:
		return []string{"problem"}
	case TypeSuite:
		return []string{"suite"}
	case TypePool:
		return []string{"pool"}
	case TypeSolutions:
		return []string{"solution"}
	case TypeBackend, TypeBackends:
		return []string{"backend"}
	case TypeSource, TypeSources:
		return []string{"task"}
	}
	return nil
}

// Schema returns the blocks of the language in the order of the documentation, with those of readers. It
// omits names that only later versions know.
func Schema(x Extensions) []BlockSchema {
	shown := x.table()
	for i := range shown {
		shown[i] = shown[i].withReferences()
	}
	return shown
}

func (s BlockSchema) withReferences() BlockSchema {
	s.Attributes, s.Blocks, s.Kinds = slices.Clone(s.Attributes), slices.Clone(s.Blocks), slices.Clone(s.Kinds)
	for i := range s.Attributes {
		s.Attributes[i].Refers = s.Attributes[i].Type.refers()
	}
	for i := range s.Blocks {
		s.Blocks[i] = s.Blocks[i].withReferences()
	}
	for i := range s.Kinds {
		s.Kinds[i] = s.Kinds[i].withReferences()
	}
	return s
}

// Attribute returns the row of an attribute, or nil.
func (s *BlockSchema) Attribute(name string) *AttributeSchema {
	for i := range s.Attributes {
		if s.Attributes[i].Name == name {
			return &s.Attributes[i]
		}
	}
	return nil
}

// Block returns the row of a nested block, or nil.
func (s *BlockSchema) Block(name string) *BlockSchema {
	for i := range s.Blocks {
		if s.Blocks[i].Name == name {
			return &s.Blocks[i]
		}
	}
	return nil
}

// ForKind returns the schema of a block whose first label is kind, which adds to the common part, or nil if
// the kind is unknown.
func (s *BlockSchema) ForKind(kind string) *BlockSchema {
	for _, k := range s.Kinds {
		if k.Name == kind {
			merged := *s
			merged.Attributes = slices.Concat(s.Attributes, k.Attributes)
			merged.Blocks = slices.Concat(s.Blocks, k.Blocks)
			return &merged
		}
	}
	return nil
}

func (s *BlockSchema) attributeNames() []string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	return names
}

func (s *BlockSchema) blockNames() []string { return schemaNames(s.Blocks) }

func schemaNames(schemas []BlockSchema) []string {
	names := make([]string, len(schemas))
	for i, s := range schemas {
		names[i] = s.Name
	}
	return names
}
