package importmap

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostOptions bounds the fields of exported options, with each embedded group as one.
const mostOptions = 12

// crowdedOptions returns the exported structs of a file whose names end with Options and that have too many fields.
func crowdedOptions(path string, content []byte) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		fields, isStruct := spec.Type.(*ast.StructType)
		if !isStruct || !spec.Name.IsExported() || !strings.HasSuffix(spec.Name.Name, "Options") {
			return true
		}
		count := 0
		for _, f := range fields.Fields.List {
			count += max(1, len(f.Names))
		}
		if count > mostOptions {
			found = append(found, fmt.Sprintf("%s: %s has %d fields", files.Position(spec.Pos()), spec.Name.Name, count))
		}
		return true
	})
	return found, nil
}

// TestOptions: options are in groups that a reader can take in.
func TestOptions(t *testing.T) {
	for _, file := range readTexts(t) {
		if !isProduct(file.path) {
			continue
		}
		content, err := os.ReadFile(filepath.Join("../..", file.path))
		if err != nil {
			t.Fatal(err)
		}
		found, err := crowdedOptions(file.path, content)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Errorf("%s, want at most %d: embed structs that group them", f, mostOptions)
		}
	}
}

func TestCrowdedOptions(t *testing.T) {
	many := "A, B, C, D, E, F, G, H, I, J, K, L"
	for source, want := range map[string]int{
		"type Options struct { " + many + " int }":                                 0,
		"type Options struct { " + many + " int; Limits }":                         1,
		"type (Small struct { A int }; RunOptions struct { " + many + ", M int })": 1,
		"type options struct { " + many + ", M int }":                              0,
		"type Other struct { " + many + ", M int }":                                0,
	} {
		found, err := crowdedOptions("x.go", []byte("package x\n"+source))
		if err != nil || len(found) != want {
			t.Errorf("%s: %v, %v; want %d", source, found, err, want)
		}
	}
}
