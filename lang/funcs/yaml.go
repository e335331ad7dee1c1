package funcs

import (
	"fmt"
	"math"
	"strings"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"
)

const (
	// maxAliased limits the values that aliases of a YAML text add to the literal ones: far more than any
	// configuration needs, and decoded in about a second.
	maxAliased = 200_000
	// maxYAMLDepth limits the nesting, since decoding takes quadratic time in it.
	maxYAMLDepth = 200
)

// yamlDecodeFunc is the decoder of go-cty-yaml after a check of the expanded size: a few lines of aliases to
// aliases can expand to more values than fit into memory, which would end the whole process.
var yamlDecodeFunc = function.New(&function.Spec{
	Description: "Value of a YAML text of one document.",
	Params:      []function.Parameter{{Name: "src", Type: cty.String}},
	Type: func(args []cty.Value) (cty.Type, error) {
		if args[0].IsKnown() {
			if err := CheckYAML(args[0].AsString()); err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
		}
		return ctyyaml.YAMLDecodeFunc.ReturnTypeForValues(args)
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return ctyyaml.YAMLDecodeFunc.Call(args)
	},
})

// CheckYAML rejects a text that expands to too many values. The decoder reports other errors, with
// positions.
func CheckYAML(text string) error {
	var document yaml.Node
	err := yaml.Unmarshal([]byte(text), &document)
	size, written := yamlSize{}, 0
	switch {
	case err != nil && strings.Contains(err.Error(), "exceeded max depth"): // of that parser, which is more
		size.depth = maxYAMLDepth + 1
	case err == nil:
		measure := yamlMeasure{known: map[*yaml.Node]yamlSize{}}
		size, written = measure.of(&document), len(measure.known)
	}
	switch {
	case size.depth > maxYAMLDepth:
		return fmt.Errorf("it is nested deeper than %d levels", maxYAMLDepth)
	case size.values > written+maxAliased:
		return fmt.Errorf("its aliases expand to more than %d values", maxAliased)
	}
	return nil
}

// yamlSize is the size of an expanded node, including itself.
type yamlSize struct{ values, depth int }

// yamlMeasure measures a tree of nodes in which aliases share parts; each
// part is measured once.
type yamlMeasure struct {
	known map[*yaml.Node]yamlSize // zero while a node is being measured
}

func (m *yamlMeasure) of(n *yaml.Node) yamlSize {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, met := m.known[n]; met {
		return size // the node contains itself, which the decoder rejects
	}
	m.known[n] = yamlSize{}
	size := yamlSize{values: 1}
	for _, part := range n.Content {
		inner := m.of(part)
		size.values = min(size.values+inner.values, math.MaxInt/2) // sums of two values do not overflow
		size.depth = max(size.depth, inner.depth)
	}
	size.depth++
	m.known[n] = size
	return size
}
