package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang"
)

var update = flag.Bool("update", false, "write docs/schema")

// TestSchemas checks that docs/schema has the schema of each JSON that commands print.
func TestSchemas(t *testing.T) {
	want := map[string]*jsonschema.Schema{"events": eventSchema(t)}
	for name, values := range Printed() {
		one := &jsonschema.Schema{}
		for _, v := range values {
			one.AnyOf = append(one.AnyOf, inferSchema(t, reflect.TypeOf(v)))
		}
		if len(one.AnyOf) == 1 {
			one = one.AnyOf[0]
		}
		if name == "gen" { // events are printed on request
			one.AnyOf = append(one.AnyOf, want["events"].AnyOf...)
		}
		want[name] = one
	}
	dir := filepath.Join("..", "..", "docs", "schema")
	for name, schema := range want {
		schema.Schema, schema.Title = "https://json-schema.org/draft/2020-12/schema", "fevalgraph "+name
		text, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, '\n')
		file := filepath.Join(dir, name+".json")
		if *update {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, text) {
			t.Errorf("%s is not the schema of what is printed (%v); go test ./internal/cli -run TestSchemas -update writes it", file, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); want[name[:len(name)-len(".json")]] == nil {
			t.Errorf("%s is the schema of nothing", file)
		}
	}
}

// eventSchema distinguishes lines by their type.
func eventSchema(t *testing.T) *jsonschema.Schema {
	all := &jsonschema.Schema{}
	types := event.Types()
	for _, name := range slices.Sorted(maps.Keys(types)) {
		one := inferSchema(t, reflect.TypeOf(types[name]))
		one.Properties["type"] = &jsonschema.Schema{Const: jsonschema.Ptr[any](name)}
		all.AnyOf = append(all.AnyOf, one)
	}
	return all
}

// inferSchema infers a schema. Later versions can add fields, and lists are never null.
func inferSchema(t *testing.T, of reflect.Type) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[[2]float64]():       {Type: "array", Items: &jsonschema.Schema{Type: "number"}, MinItems: jsonschema.Ptr(2), MaxItems: jsonschema.Ptr(2)},
		reflect.TypeFor[listObject]():       listSchema(),
		reflect.TypeFor[lang.BlockSchema](): {Type: "object"}, // holds blocks
	}})
	if err != nil {
		t.Fatal(err)
	}
	loosen(s)
	commented.describe(t, s, of)
	return s
}

// commented holds the comments that have been read.
var commented = comments{}

func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	if slices.Equal(s.Types, []string{"null", "array"}) && s.MinItems == nil { // of a slice
		s.Type, s.Types = "array", nil
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	loosen(s.Items)
	loosen(s.AdditionalProperties)
}

// listSchema describes rows of values below the name of the listed things.
func listSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Required: []string{"schema"}, Properties: map[string]*jsonschema.Schema{"schema": {Type: "integer"}}}
	for _, name := range describe.Lists {
		s.Properties[name] = &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{
			Type: "object", AdditionalProperties: &jsonschema.Schema{Types: []string{"string", "integer"}}}}
	}
	return s
}
