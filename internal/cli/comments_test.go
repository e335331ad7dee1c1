package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

const module = "github.com/fevalgraph/fevalgraph/"

// comments holds the comments of fields, by package, type and field: "report.Cell.Score".
type comments map[string]map[string]string

// describe sets the descriptions of a schema to the comments of the fields that it was inferred from.
func (c comments) describe(t *testing.T, s *jsonschema.Schema, of reflect.Type) {
	t.Helper()
	if s == nil {
		return
	}
	switch of.Kind() {
	case reflect.Pointer:
		c.describe(t, s, of.Elem())
	case reflect.Slice, reflect.Array:
		c.describe(t, s.Items, of.Elem())
	case reflect.Map:
		c.describe(t, s.AdditionalProperties, of.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := s.Properties[name]; p != nil && !f.Anonymous {
				owner := of
				for _, at := range f.Index[:len(f.Index)-1] {
					if owner = owner.Field(at).Type; owner.Kind() == reflect.Pointer {
						owner = owner.Elem()
					}
				}
				p.Description = c.of(t, owner)[owner.Name()+"."+f.Name]
				c.describe(t, p, f.Type)
			}
		}
	}
}

// of reads the comments of the package that has a type.
func (c comments) of(t *testing.T, owner reflect.Type) map[string]string {
	t.Helper()
	folder, ours := strings.CutPrefix(owner.PkgPath(), module)
	if known := c[folder]; known != nil || !ours {
		return known
	}
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("reading the comments of %s: %v", owner, err)
	}
	found := map[string]string{}
	c[folder] = found
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range fields.Fields.List {
				said := slices.DeleteFunc([]string{f.Doc.Text(), f.Comment.Text()}, func(s string) bool { return s == "" })
				for _, name := range f.Names {
					found[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(strings.Join(said, " ")), " ")
				}
			}
			return true
		})
	}
	return found
}
