package harbor

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
)

// table returns a table in another, or nil if it is not set.
func (t *task) table(n *yaml.Node, key string) *yaml.Node {
	found := document.At(n, key)
	if found != nil && found.Kind != yaml.MappingNode {
		t.Fail(found, key+" must be a table")
		return nil
	}
	return found
}

// tables returns the tables of a list.
func (t *task) tables(n *yaml.Node, key string) []*yaml.Node {
	found := document.At(n, key)
	if found == nil {
		return nil
	}
	for _, one := range found.Content {
		if found.Kind != yaml.SequenceNode || one.Kind != yaml.MappingNode {
			t.Fail(found, key+" must be a list of tables")
			return nil
		}
	}
	return found.Content
}

// text returns a string, or "" if it is not set.
func (t *task) text(n *yaml.Node, key string) string {
	found := document.At(n, key)
	if found != nil && (found.Kind != yaml.ScalarNode || found.Tag != document.Text) {
		t.Fail(found, key+" must be a string")
		return ""
	}
	return document.Scalar(found, "")
}

func (t *task) texts(n *yaml.Node, key string) []string {
	found := document.At(n, key)
	all, ok := document.Texts(found)
	if found != nil && !ok {
		t.Fail(found, key+" must be a list of strings")
	}
	return all
}

// choice returns a string that must be one of several, or otherwise.
func (t *task) choice(n *yaml.Node, key, otherwise string, of ...string) string {
	text := t.text(n, key)
	if text == "" {
		return otherwise
	}
	for _, one := range of {
		if text == one {
			return text
		}
	}
	t.Fail(document.At(n, key), fmt.Sprintf("%s must be one of %s, not %q", key, strings.Join(of, ", "), text))
	return otherwise
}

// number returns a finite number that is not negative, or otherwise.
func (t *task) number(n *yaml.Node, key string, otherwise float64) float64 {
	found := document.At(n, key)
	if found == nil {
		return otherwise
	}
	value, err := strconv.ParseFloat(document.Scalar(found, ""), 64)
	if err != nil || found.Tag == document.Text || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		t.Fail(found, key+" must be a number that is not negative")
		return otherwise
	}
	return value
}

// user returns a user, given as a name or a number.
func (t *task) user(n *yaml.Node, key string) string {
	found := document.At(n, key)
	if found != nil && (found.Kind != yaml.ScalarNode || found.Tag != document.Text && found.Tag != "!!int") {
		t.Fail(found, key+" must be a string or a whole number")
		return ""
	}
	return document.Scalar(found, "")
}

// variables reads those of an environment into what is set and what is the host's.
func (t *task) variables(n *yaml.Node, set, host map[string]string) {
	env := t.table(n, "env")
	for _, name := range document.Keys(env) {
		value := t.text(env, name)
		delete(set, name)
		delete(host, name)
		if inside, found := strings.CutPrefix(value, "${"); found && strings.HasSuffix(inside, "}") {
			host[name] = strings.TrimSuffix(inside, "}")
		} else {
			set[name] = value
		}
	}
}
