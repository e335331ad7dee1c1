package lang

// BlockSchema describes one kind of block: what it may hold and what that
// means. Schema returns the table that decoding itself uses.
type BlockSchema struct {
	Name       string            `json:"name"`
	Labels     []string          `json:"labels,omitempty"` // what each label is: "name", "kind"
	Doc        string            `json:"doc"`
	Attributes []AttributeSchema `json:"attributes,omitempty"`
	Blocks     []BlockSchema     `json:"blocks,omitempty"` // nested
	Kinds      []BlockSchema     `json:"kinds,omitempty"`  // what a first label of that name adds
}

// AttributeSchema describes one attribute.
type AttributeSchema struct {
	Name     string        `json:"name"`
	Type     AttributeType `json:"type"`
	Required bool          `json:"required,omitempty"`
	Default  string        `json:"default,omitempty"` // HCL text
	Doc      string        `json:"doc"`
}

// AttributeType is the kind of value an attribute takes, as shown to people.
type AttributeType string
