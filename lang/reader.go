package lang

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// Reader reads input in another format than HCL, such as the directory of a benchmark's problem. Its block
// expands to attributes and blocks of the enclosing block. HCL takes precedence over the result.
type Reader struct {
	// Block is the reader's block. Its attributes are strings; paths are made absolute, and the first one is
	// the path of the problem.
	Block BlockSchema
	// Owner is the kind of the enclosing block: "problem" or "solution".
	Owner string
	// Driver is the driver block that it creates for a problem.
	Driver string
	// Read reads the input. given contains the attributes that are set or have defaults; for a solution,
	// also those of the block of the same name in its problem. Errors have positions in the input; after an
	// error, only the name in Made is used.
	Read func(files *ReaderFiles, given map[string]string) (*Made, diag.List)
	// Collect reads solutions that another program recorded, instead of Read. Attribute, the path of the
	// record, then replaces Block in a solution block: each recorded solution becomes an instance, and the
	// block names no problem and no source.
	Collect   func(files *ReaderFiles, path string, problems []Candidate) ([]Collected, diag.List)
	Attribute AttributeSchema
}

// Made is the content of a block that was read.
type Made struct {
	// Attributes are by name: string, bool, int, float64, []int, []string, map[string]string,
	// ByCheckpoint, or nil for null.
	Attributes map[string]any
	Blocks     []MadeBlock
	// Solver makes the references of a problem with a verifier that has no reference blocks; nil makes none.
	Solver *MadeSolver
}

func (m *Made) name() (name any, named bool) {
	if m != nil {
		name, named = m.Attributes["name"]
	}
	return name, named
}

// MadeBlock is a block that was read.
type MadeBlock struct {
	Kind   string
	Labels []string
	At     diag.Range // position in the input; zero means the reader's block
	Made
}

// ByCheckpoint is a value for each checkpoint, by name.
type ByCheckpoint map[string]string

// ReaderFiles reads files for a Reader. The configuration depends on every file that is read.
type ReaderFiles struct {
	l   *loader
	dir string
}

func (f *ReaderFiles) place() funcs.Files {
	return f.l.files(f.dir)
}

// Open opens a regular file, to read parts of it. The error for a missing file wraps fs.ErrNotExist.
func (f *ReaderFiles) Open(path string) (*os.File, error) { return f.place().Open(path) }

// Read returns the text of a file. The error for a missing file wraps fs.ErrNotExist.
func (f *ReaderFiles) Read(path string) (string, error) { return f.place().ReadFile(path) }

// Exists reports whether a path exists.
func (f *ReaderFiles) Exists(path string) bool {
	path = f.place().Resolve(path)
	f.l.input("exists", path)
	_, err := os.Stat(path)
	return err == nil
}

// Present reports whether a path exists, even as a dangling link.
func (f *ReaderFiles) Present(path string) bool {
	path = f.place().Resolve(path)
	f.l.input("link", path)
	_, err := os.Lstat(path)
	return err == nil
}

// YAML reads a mapping from a YAML file, or returns a diagnostic.
func (f *ReaderFiles) YAML(path string) (*yaml.Node, *diag.Diagnostic) {
	return f.Document(path, func(text string) (*yaml.Node, *diag.Diagnostic) {
		var document, second yaml.Node
		decoder := yaml.NewDecoder(strings.NewReader(text))
		err := funcs.CheckYAML(text)
		if err == nil {
			if err = decoder.Decode(&document); errors.Is(err, io.EOF) { // contains no document
				err = nil
			}
		}
		if err != nil {
			return nil, &diag.Diagnostic{Code: "bad-yaml", Summary: "Bad YAML", Detail: fmt.Sprintf("%v.", err)}
		}
		if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
			at := diag.Pos{Line: max(second.Line, 1), Column: max(second.Column, 1)}
			return nil, &diag.Diagnostic{Code: "bad-yaml", Summary: "Bad YAML", Detail: "The file has more than one document.", Range: &diag.Range{Start: at}}
		}
		if len(document.Content) != 1 {
			return nil, nil
		}
		return document.Content[0], nil
	})
}

// Document reads a mapping from a file in any format that parse converts to nodes, or returns a diagnostic.
// parse sets only the start of a diagnostic's range.
func (f *ReaderFiles) Document(path string, parse func(text string) (*yaml.Node, *diag.Diagnostic)) (*yaml.Node, *diag.Diagnostic) {
	at := diag.Range{File: f.l.show(path), Start: diag.Pos{Line: 1, Column: 1}, End: diag.Pos{Line: 1, Column: 1}}
	text, err := f.Read(path)
	if err != nil {
		code := "unreadable-file"
		if errors.Is(err, fs.ErrNotExist) {
			code = "missing-file"
		}
		return nil, &diag.Diagnostic{Code: code, Summary: "File not read", Detail: fmt.Sprintf("%v.", err)}
	}
	f.l.shown[at.File] = &source{path: path, shown: at.File, dir: filepath.Dir(path), bytes: []byte(text)}
	root, wrong := parse(text)
	if wrong == nil && (root == nil || root.Kind != yaml.MappingNode) {
		wrong = &diag.Diagnostic{Code: "wrong-type", Summary: "Wrong type", Detail: "The file is not a mapping of names to values."}
	}
	if wrong != nil {
		if wrong.Range != nil {
			at.Start, at.End = wrong.Range.Start, wrong.Range.Start
		}
		wrong.Range = &at
		return nil, wrong
	}
	return root, nil
}

// At returns the range of a node in such a file.
func (f *ReaderFiles) At(path string, n *yaml.Node) diag.Range {
	at := diag.Pos{Line: n.Line, Column: n.Column}
	return diag.Range{File: f.l.show(path), Start: at, End: at}
}

// Glob returns the same paths as the function fileset.
func (f *ReaderFiles) Glob(dir, pattern string) ([]string, error) {
	return f.place().Glob(dir, pattern)
}

// Function is a function of the language for another format of problems.
type Function struct {
	Name, Doc string
	Params    []string // all are strings
	Call      func(files *ReaderFiles, args []string) (map[string]string, error)
}

// callable returns the function for paths that are relative to a directory.
func (l *loader) callable(f Function, dir string) function.Function {
	spec := &function.Spec{Description: f.Doc, Type: function.StaticReturnType(cty.Map(cty.String))}
	for _, name := range f.Params {
		spec.Params = append(spec.Params, function.Parameter{Name: name, Type: cty.String})
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var texts []string
		for _, a := range args {
			texts = append(texts, a.AsString())
		}
		made, err := f.Call(&ReaderFiles{l, dir}, texts)
		if err != nil {
			return cty.UnknownVal(cty.Map(cty.String)), err
		}
		return textMap(made), nil
	}
	return function.New(spec)
}

// readers returns the readers for a kind of block.
func (l *loader) readers(owner string) []Reader {
	return slices.DeleteFunc(slices.Clone(l.options.Readers), func(r Reader) bool { return r.Owner != owner || r.Collect != nil })
}

// table returns the table of the language with its extensions.
func (x *Extensions) table() []BlockSchema {
	table := topLevel()
	for i := range table {
		if table[i].Name == "backend" {
			for _, k := range x.backendKinds() {
				table[i].Kinds = append(table[i].Kinds, k.Schema)
			}
		}
		for _, r := range x.Readers {
			switch {
			case r.Owner != table[i].Name:
			case r.Collect != nil:
				table[i].Attributes = append(slices.Clip(table[i].Attributes), r.Attribute)
			default:
				table[i].Blocks = append(slices.Clip(table[i].Blocks), r.Block)
			}
		}
	}
	return table
}

// isRead reports whether a body has a block of a reader, which then checks required attributes.
func (l *loader) isRead(body *hclsyntax.Body, owner string) bool {
	for _, r := range l.readers(owner) {
		if slices.ContainsFunc(body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == r.Block.Name }) {
			return true
		}
	}
	return owner == "solution" && l.collection(body) != nil
}

// read expands the readers' blocks in b, the block of a problem or of a solution of one.
func (b *block) read(owner string, p *Problem) {
	for _, r := range b.l.readers(owner) {
		of := b.singleBlock(r.Block.Name)
		if of == nil {
			continue
		}
		known := b.l.instances.read[p]
		given := map[string]string{}
		if known.reader == r.Block.Name {
			maps.Copy(given, known.given)
		}
		for _, a := range r.Block.Attributes {
			value, g := of.text(a.Name)
			if a.Path && value != "" {
				value, g = of.path(a.Name)
			}
			if !g.usable() {
				return
			}
			if _, has := given[a.Name]; g == isSet || !has {
				given[a.Name] = value
			}
		}
		if owner == "problem" {
			b.l.instances.read[p] = wasRead{r.Block.Name, given, nil}
			if at := slices.IndexFunc(r.Block.Attributes, func(a AttributeSchema) bool { return a.Path }); at >= 0 {
				p.ReadFrom = given[r.Block.Attributes[at].Name]
			}
		}
		made, mistakes := r.Read(&ReaderFiles{b.l, b.src.dir}, given)
		failed := of.reportErrors(mistakes, of.header)
		switch name, named := made.name(); {
		case !failed:
			b.merge(made, of.header)
			if owner == "problem" {
				b.l.instances.read[p] = wasRead{r.Block.Name, given, made.Solver}
			}
		case named: // the name that it has without errors; it can be compared
			seen := slices.DeleteFunc(slices.Clone(made.Blocks), func(m MadeBlock) bool { return m.Kind != "seen" })
			attributes := map[string]any{"name": name}
			if release, versioned := made.Attributes["release"]; versioned {
				attributes["release"] = release
			}
			b.merge(&Made{Attributes: attributes, Blocks: seen}, of.header)
		}
	}
}

// wasRead records the input of a problem: the name of the reader's block, and its attributes.
type wasRead struct {
	reader string
	given  map[string]string
	solver *MadeSolver
}

// merge adds the attributes and blocks that b lacks, with the position at.
func (b *block) merge(made *Made, at hcl.Range) {
	b.attrs = maps.Clone(b.attrs)
	if b.attrs == nil {
		b.attrs = hclsyntax.Attributes{}
	}
	for name, value := range made.Attributes {
		if b.attrs[name] == nil {
			b.attrs[name] = &hclsyntax.Attribute{Name: name, Expr: literal(value, at), SrcRange: at, NameRange: at}
		}
	}
	for i := range made.Blocks {
		one := &made.Blocks[i]
		place := at
		if one.At.File != "" {
			place = hclRange(one.At)
		}
		kid, schema := b.kid(one.Kind, one.Labels), b.schema.Block(one.Kind)
		if kid == nil || schema.Repeats && len(one.Labels) == 0 {
			kid = &block{l: b.l, src: b.src, decl: b.decl, schema: schema, labels: one.Labels, ctx: b.ctx, header: place}
			b.kids = append(b.kids, kid)
		}
		kid.merge(&one.Made, place)
	}
}

// kid returns the nested block of a kind with these labels, or nil.
func (b *block) kid(kind string, labels []string) *block {
	for _, kid := range b.children(kind) {
		if slices.Equal(kid.labels, labels) {
			return kid
		}
	}
	return nil
}

// literal returns an expression for a value.
func literal(value any, at hcl.Range) hclsyntax.Expression {
	if by, ok := value.(ByCheckpoint); ok {
		name := hcl.Traversal{hcl.TraverseRoot{Name: "checkpoint", SrcRange: at}, hcl.TraverseAttr{Name: "name", SrcRange: at}}
		return &hclsyntax.IndexExpr{
			Collection: &hclsyntax.LiteralValueExpr{Val: textMap(by), SrcRange: at},
			Key:        &hclsyntax.ScopeTraversalExpr{Traversal: name, SrcRange: at}, SrcRange: at, OpenRange: at, BracketRange: at,
		}
	}
	return &hclsyntax.LiteralValueExpr{Val: valueOf(value), SrcRange: at}
}

// valueOf converts a value of Made.Attributes.
func valueOf(value any) cty.Value {
	switch v := value.(type) {
	case nil:
		return cty.NullVal(cty.DynamicPseudoType)
	case string:
		return cty.StringVal(v)
	case bool:
		return cty.BoolVal(v)
	case int:
		return cty.NumberIntVal(int64(v))
	case float64:
		return cty.NumberFloatVal(v)
	case []int:
		return listOf(v, func(n int) cty.Value { return cty.NumberIntVal(int64(n)) }, cty.Number)
	case []string:
		return listOf(v, cty.StringVal, cty.String)
	case map[string]string:
		return textMap(v)
	}
	panic(fmt.Sprintf("lang: a reader made a %T", value))
}

func listOf[T any](all []T, one func(T) cty.Value, of cty.Type) cty.Value {
	if len(all) == 0 {
		return cty.ListValEmpty(of)
	}
	values := make([]cty.Value, len(all))
	for i, v := range all {
		values[i] = one(v)
	}
	return cty.ListVal(values)
}

func textMap[M ~map[string]string](texts M) cty.Value {
	if len(texts) == 0 {
		return cty.MapValEmpty(cty.String)
	}
	values := map[string]cty.Value{}
	for name, text := range texts {
		values[name] = cty.StringVal(text)
	}
	return cty.MapVal(values)
}

// kindOfDriver returns the driver that a block of a problem is, or expands to, or "".
func (l *loader) kindOfDriver(block string) string {
	at := slices.IndexFunc(l.options.Readers, func(r Reader) bool { return r.Owner == "problem" && r.Block.Name == block })
	if at < 0 {
		return block
	}
	return cmp.Or(l.options.Readers[at].Driver, block)
}
