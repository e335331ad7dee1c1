package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// OpenTOML reads a file. An unreadable file is noted as an error.
func OpenTOML(files *lang.ReaderFiles, path string) *File {
	root, wrong := files.Document(path, parseTOML)
	return Of(files, path, root, wrong)
}

// parseTOML makes nodes of a text. Their places are those of keys, and of elements of lists.
func parseTOML(text string) (*yaml.Node, *diag.Diagnostic) {
	bad := func(err error) *diag.Diagnostic {
		d := &diag.Diagnostic{Code: "bad-toml", Summary: "Bad TOML", Detail: fmt.Sprintf("%v.", err)}
		var where *toml.DecodeError
		if errors.As(err, &where) {
			line, column := where.Position()
			d.Range = &diag.Range{Start: diag.Pos{Line: line, Column: column}}
		}
		return d
	}
	var all map[string]any
	if err := toml.Unmarshal([]byte(text), &all); err != nil { // it knows what must not occur twice
		return nil, bad(err)
	}
	t := &tree{root: &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}}
	t.table = t.root
	t.parser.Reset([]byte(text))
	for t.parser.NextExpression() {
		t.add(t.parser.Expression())
	}
	if err := t.parser.Error(); err != nil {
		return nil, bad(err)
	}
	return t.root, nil
}

// tree is the content of a valid text.
type tree struct {
	parser unstable.Parser
	root   *yaml.Node
	table  *yaml.Node // that key-value pairs go to
}

func (t *tree) add(e *unstable.Node) {
	switch e.Kind {
	case unstable.Table, unstable.ArrayTable:
		t.table = t.root
		keys := t.keys(e)
		for i, key := range keys {
			kind := yaml.MappingNode
			if i == len(keys)-1 && e.Kind == unstable.ArrayTable {
				kind = yaml.SequenceNode
			}
			t.table = enter(t.table, key, kind)
		}
	case unstable.KeyValue:
		t.set(t.table, e)
	}
}

// set puts a key-value pair into a table.
func (t *tree) set(table *yaml.Node, e *unstable.Node) {
	keys := t.keys(e)
	last := len(keys) - 1
	for _, key := range keys[:last] {
		table = enter(table, key, yaml.MappingNode)
	}
	value := t.value(e.Value())
	value.Line, value.Column = keys[last].Line, keys[last].Column
	table.Content = append(table.Content, keys[last], value)
}

// keys returns the parts of a dotted key.
func (t *tree) keys(e *unstable.Node) (all []*yaml.Node) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		at := t.parser.Shape(n.Raw).Start
		all = append(all, &yaml.Node{Kind: yaml.ScalarNode, Tag: Text, Value: string(n.Data), Line: at.Line, Column: at.Column})
	}
	return all
}

// enter returns the table of a name in another: of a list of tables the last, or with the kind of a list a
// new one.
func enter(table, key *yaml.Node, kind yaml.Kind) *yaml.Node {
	found := At(table, key.Value)
	if found == nil {
		found = &yaml.Node{Kind: kind, Line: key.Line, Column: key.Column}
		table.Content = append(table.Content, key, found)
	}
	if kind == yaml.SequenceNode {
		found.Content = append(found.Content, &yaml.Node{Kind: yaml.MappingNode, Line: key.Line, Column: key.Column})
	}
	if found.Kind == yaml.SequenceNode {
		return found.Content[len(found.Content)-1]
	}
	return found
}

func (t *tree) value(n *unstable.Node) *yaml.Node {
	made := &yaml.Node{Kind: yaml.ScalarNode, Value: string(n.Data)}
	if n.Raw.Length > 0 {
		at := t.parser.Shape(n.Raw).Start
		made.Line, made.Column = at.Line, at.Column
	}
	switch n.Kind {
	case unstable.String:
		made.Tag = Text
	case unstable.Bool:
		made.Tag = "!!bool"
	case unstable.Integer:
		made.Tag = "!!int"
		if whole, err := strconv.ParseInt(made.Value, 0, 64); err == nil {
			made.Value = strconv.FormatInt(whole, 10)
		}
	case unstable.Float:
		made.Tag = "!!float"
		made.Value = strings.ReplaceAll(made.Value, "_", "")
	case unstable.Array:
		made.Kind, made.Value = yaml.SequenceNode, ""
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				made.Content = append(made.Content, t.value(it.Node()))
			}
		}
	case unstable.InlineTable:
		made.Kind, made.Value = yaml.MappingNode, ""
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				t.set(made, it.Node())
			}
		}
	default: // dates and times
		made.Tag = "!!timestamp"
	}
	return made
}
