package document

import (
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// File is a file whose content is a mapping.
type File struct {
	Root     *yaml.Node // nil when the file cannot be read
	Mistakes diag.List
	files    *lang.ReaderFiles
	path     string
}

// OpenYAML reads a file. An unreadable file is noted as an error.
func OpenYAML(files *lang.ReaderFiles, path string) *File {
	root, wrong := files.YAML(path)
	pythonic(root, map[*yaml.Node]bool{})
	return Of(files, path, root, wrong)
}

// Of returns a file in another form, whose content, or error, is known.
func Of(files *lang.ReaderFiles, path string, root *yaml.Node, wrong *diag.Diagnostic) *File {
	f := &File{files: files, path: path, Root: root}
	if wrong != nil {
		f.Mistakes = append(f.Mistakes, *wrong)
	}
	return f
}

// Fail notes an error at a part of the file; nil means its beginning.
func (f *File) Fail(n *yaml.Node, what string) { f.note(diag.Error, n, what) }

// Warn notes a warning at a part of the file.
func (f *File) Warn(n *yaml.Node, what string) { f.note(diag.Warning, n, what) }

func (f *File) note(severity diag.Severity, n *yaml.Node, what string) {
	d := diag.Diagnostic{Severity: severity, Code: "bad-config", Summary: "Error in " + filepath.Base(f.path), Detail: what + "."}
	if n == nil {
		n = f.Root
	}
	if n != nil {
		place := f.Place(n)
		d.Range = &place
	}
	if !slices.ContainsFunc(f.Mistakes, func(known diag.Diagnostic) bool { return reflect.DeepEqual(known, d) }) { // what is shared is read more than once
		f.Mistakes = append(f.Mistakes, d)
	}
}

// Place returns the position of a part of the file.
func (f *File) Place(n *yaml.Node) diag.Range { return f.files.At(f.path, n) }

// The tags of YAML's types.
const (
	Null = "!!null"
	Text = "!!str"
)

// octal matches the numbers that Python's reader parses in base 8.
var octal = lazyregexp.New(`^[-+]?0[0-7_]+$`)

// pythonic converts values to YAML 1.1, which benchmarks read with Python: merges become keys of
// their mapping, 010 becomes 8, and yes becomes true. It skips the nodes in done.
func pythonic(n *yaml.Node, done map[*yaml.Node]bool) {
	if n == nil || done[n] {
		return
	}
	done[n] = true
	pythonic(n.Alias, done)
	for i, one := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 { // keys are names
			pythonic(one, done)
		}
	}
	switch {
	case n.Kind == yaml.MappingNode:
		merge(n)
	case n.Kind != yaml.ScalarNode || n.Style != 0: // a quoted word is text
	case n.Tag == "!!int" && octal().MatchString(n.Value):
		if number, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 8, 64); err == nil {
			n.Value = strconv.FormatInt(number, 10)
		}
	case n.Tag == "!!int":
		n.Value = strings.ReplaceAll(n.Value, "_", "")
	case n.Tag == Text && slices.Contains([]string{"yes", "Yes", "YES", "on", "On", "ON"}, n.Value):
		n.Tag, n.Value = "!!bool", "true"
	case n.Tag == Text && slices.Contains([]string{"no", "No", "NO", "off", "Off", "OFF"}, n.Value):
		n.Tag, n.Value = "!!bool", "false"
	}
}

// merge inserts the keys of merged mappings before a mapping's own keys, which win. If mappings
// share a key, the first mapping wins.
func merge(n *yaml.Node) {
	var merged, own []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolve(n.Content[i+1])
		if key.Tag != "!!merge" {
			own = append(own, key, n.Content[i+1])
			continue
		}
		from := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			from = value.Content
		}
		for _, mapping := range slices.Backward(from) {
			if mapping = resolve(mapping); mapping.Kind == yaml.MappingNode {
				merged = append(merged, mapping.Content...)
			}
		}
	}
	if len(own) < len(n.Content) {
		n.Content = append(merged, own...)
	}
}

// At returns the value at a path of keys, each the last of its name as in Python, or nil.
func At(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		if n = value(n, key); n == nil {
			return nil
		}
	}
	return n
}

func value(n *yaml.Node, key string) *yaml.Node {
	if n = resolve(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if n.Content[i].Value == key {
			return resolve(n.Content[i+1])
		}
	}
	return nil
}

// resolve returns the value that an alias refers to, and any other value unchanged.
func resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Keys returns the keys of a mapping, in order.
func Keys(n *yaml.Node) []string {
	var all []string
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i].Value; !slices.Contains(all, key) {
				all = append(all, key)
			}
		}
	}
	return all
}

// Scalar returns the text of a value, or otherwise.
func Scalar(n *yaml.Node, otherwise string) string {
	if n = resolve(n); n == nil || n.Kind != yaml.ScalarNode || n.Tag == Null {
		return otherwise
	}
	return n.Value
}

// Texts returns the elements of a list.
func Texts(n *yaml.Node) (all []string, ok bool) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil, false
	}
	for _, one := range n.Content {
		all = append(all, Scalar(one, ""))
	}
	return all, true
}

// Leaf is a scalar of a document, or an empty list or mapping, by its path: "steps[0].agent.timeout_sec".
type Leaf struct{ Path, Value string }

// maxDepth bounds how deep Leaves goes into documents whose aliases contain themselves.
const maxDepth = 32

// Leaves returns the values of a document in order.
func Leaves(n *yaml.Node) (all []Leaf) {
	return leaves(nil, resolve(n), "", maxDepth)
}

func leaves(all []Leaf, n *yaml.Node, at string, depth int) []Leaf {
	switch {
	case n == nil || depth == 0:
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		for _, key := range Keys(n) {
			path := key
			if at != "" {
				path = at + "." + key
			}
			all = leaves(all, At(n, key), path, depth-1)
		}
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		for i, one := range n.Content {
			all = leaves(all, resolve(one), at+"["+strconv.Itoa(i)+"]", depth-1)
		}
	default:
		all = append(all, Leaf{at, n.Value})
	}
	return all
}
