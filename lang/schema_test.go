package lang

import (
	"reflect"
	"slices"
	"testing"
)

// walkSchema visits every block of the table.
func walkSchema(at string, s BlockSchema, visit func(at string, s BlockSchema)) {
	visit(at, s)
	for _, b := range s.Blocks {
		walkSchema(at+"."+b.Name, b, visit)
	}
	for _, k := range s.Kinds {
		walkSchema(at+"."+k.Name, k, visit)
	}
}

func TestSchemaIsWhole(t *testing.T) {
	for _, top := range Schema(*testExtensions()) {
		walkSchema(top.Name, top, func(at string, s BlockSchema) {
			if s.Doc == "" {
				t.Errorf("%s: missing doc", at)
			}
			for _, a := range s.Attributes {
				if a.Doc == "" || a.Type == "" {
					t.Errorf("%s.%s: missing doc or type", at, a.Name)
				}
				if a.Required && a.Default != "" {
					t.Errorf("%s.%s is required and has a default", at, a.Name)
				}
				switch {
				case a.Default == "", a.Type == TypePool, a.Type == TypeType:
				case a.Type == TypeDuration:
					if _, _, err := parseDuration(defaultValue(&a).AsString(), false); err != nil {
						t.Errorf("%s.%s: %v", at, a.Name, err)
					}
				default:
					defaultValue(&a) // panics when it does not parse
				}
			}
		})
	}
}

// Editors have documentation for functions, and references name a block of the table.
func TestLanguageIsWhole(t *testing.T) {
	described := Describe(Options{Extensions: *testExtensions()})
	for _, f := range described.Functions {
		if f.Doc == "" || len(f.Params) == 0 && f.Variadic == "" {
			t.Errorf("function %s: missing doc or parameters", f.Name)
		}
	}
	for _, r := range described.References {
		if !slices.Contains(schemaNames(described.Blocks), r.Block) {
			t.Errorf("%s is declared by %s, which is not a block", r.Prefix, r.Block)
		}
	}
	for _, top := range described.Blocks {
		walkSchema(top.Name, top, func(at string, s BlockSchema) {
			for _, a := range s.Attributes {
				for _, prefix := range a.Refers {
					if !slices.Contains(referable(), prefix) {
						t.Errorf("%s.%s refers to %s, which no reference begins with", at, a.Name, prefix)
					}
				}
			}
		})
	}
}

func TestSchemaHasEveryBlock(t *testing.T) {
	want := []string{"fevalgraph", "variable", "locals", "function", "pool", "secret", "backend", "problem", "solution", "task", "suite", "result", "export", "generator"}
	if got := schemaNames(Schema(*testExtensions())); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A tag that no row has would leave its field empty.
func TestTagsAreInTheTable(t *testing.T) {
	rows := map[string]bool{}
	for _, top := range Schema(*testExtensions()) {
		walkSchema(top.Name, top, func(_ string, s BlockSchema) {
			for _, name := range s.attributeNames() {
				rows[name] = true
			}
		})
	}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			if name, tagged := f.Tag.Lookup("hcl"); tagged && !rows[name] {
				t.Errorf("%s.%s is filled from %q, which no block has", of, f.Name, name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Config]())
	for _, k := range testExtensions().backendKinds() {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(k.newAttributes()).Elem()) {
			if name := f.Tag.Get("hcl"); k.Schema.Attribute(name) == nil {
				t.Errorf("the kind %s fills %s from %q, which its blocks do not have", k.Schema.Name, f.Name, name)
			}
		}
	}
}

// A driver is one row of the table and one reader; neither without
// the other.
func TestDriversHaveReaders(t *testing.T) {
	p := problemSchema()
	for _, driver := range drivers(&p) {
		if problemDrivers()[driver] == nil {
			t.Errorf("driver %s: missing reader", driver)
		}
	}
	if len(problemDrivers()) != len(drivers(&p)) {
		t.Error("a reader without a row")
	}
}
