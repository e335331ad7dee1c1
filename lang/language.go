package lang

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty/function"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// Language describes the whole language, for editors and documentation.
type Language struct {
	Blocks     []BlockSchema     `json:"blocks"`
	References []ReferenceSchema `json:"references"`
	Functions  []FunctionSchema  `json:"functions"`
}

// ReferenceSchema describes references that begin with Prefix: they name declarations of a block kind, by so
// many labels.
type ReferenceSchema struct {
	Prefix string `json:"prefix"`
	Block  string `json:"block"`
	Labels int    `json:"labels"`
}

// FunctionSchema describes a function that expressions can call.
type FunctionSchema struct {
	Name     string   `json:"name"`
	Params   []string `json:"params"`
	Variadic string   `json:"variadic,omitempty"` // name of the parameter that can be repeated
	Doc      string   `json:"doc,omitempty"`
}

// Describe returns the language with the readers and functions of o: blocks in the order of the
// documentation, functions by name.
func Describe(o Options) Language {
	all := funcs.Library(funcs.Files{})
	for _, f := range o.Functions {
		all[f.Name] = (&loader{}).callable(f, "")
	}
	described := Language{Blocks: Schema(o.Extensions)}
	for _, prefix := range referable() {
		described.References = append(described.References, ReferenceSchema{Prefix: prefix, Block: declaredBy(prefix), Labels: referenceLabels(prefix)})
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		described.Functions = append(described.Functions, describeFunction(name, all[name]))
	}
	return described
}

// declaredBy returns the kind of block that declares the targets of references with the prefix.
func declaredBy(prefix string) string {
	if prefix == "local" {
		return "locals"
	}
	return declKind(prefix)
}

// referenceLabels returns how many names follow the prefix of a reference.
func referenceLabels(prefix string) int {
	if prefix == "backend" {
		return 2 // its kind and its name
	}
	return 1
}

func describeFunction(name string, f function.Function) FunctionSchema {
	s := FunctionSchema{Name: name, Params: []string{}, Doc: f.Description()}
	for _, p := range f.Params() {
		s.Params = append(s.Params, p.Name)
	}
	if more := f.VarParam(); more != nil {
		s.Variadic = more.Name
	}
	return s
}

// At returns the row of the innermost block around a position, or nil if one of the blocks is unknown. For
// an empty path, the row has the blocks of a file.
func (described *Language) At(path []Enclosing) *BlockSchema {
	row := &BlockSchema{Name: "configuration", Blocks: described.Blocks}
	for _, e := range path {
		if e.Type == "dynamic" && len(e.Labels) == 1 && row.Block(e.Labels[0]) != nil {
			made := dynamicSchema(row.Block(e.Labels[0]))
			row = &made
			continue
		}
		if row = row.Block(e.Type); row == nil {
			return nil
		}
		if row.Kinds != nil && len(e.Labels) > 0 {
			if kind := row.ForKind(e.Labels[0]); kind != nil {
				row = kind
			}
		}
	}
	return row
}
