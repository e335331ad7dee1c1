package scbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// config is a config.yaml that is read as SlopCodeBench's own loader does: what that
// refuses is a mistake with its line.
type config struct {
	files    *lang.ReaderFiles
	path     string
	root     *yaml.Node // nil when the file cannot be read
	mistakes diag.List
}

func openConfig(files *lang.ReaderFiles, path string) *config {
	c := &config{files: files, path: path}
	root, wrong := files.YAML(path)
	if c.root = root; wrong != nil {
		c.mistakes = append(c.mistakes, *wrong)
	}
	return c
}

// fail notes a mistake at a part of the file; nil is its beginning.
func (c *config) fail(n *yaml.Node, what string) {
	if n == nil {
		n = c.root
	}
	place := c.files.At(c.path, n)
	c.mistakes = append(c.mistakes, diag.Diagnostic{Code: "bad-config", Summary: "Mistake in config.yaml", Detail: what + ".", Range: &place})
}

// The tags of YAML's types.
const (
	null = "!!null"
	text = "!!str"
)

// at is the value of a key in a mapping, the last one as in Python; nil when there is none.
func at(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if n.Content[i].Value == key {
			value := n.Content[i+1]
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			return value
		}
	}
	return nil
}

// keys are those of a mapping, in order.
func keys(n *yaml.Node) []string {
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

// scalar is the text of a value, or what it is otherwise.
func scalar(n *yaml.Node, otherwise string) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == null {
		return otherwise
	}
	return n.Value
}

// texts are the elements of a list.
func texts(n *yaml.Node) (all []string, ok bool) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil, false
	}
	for _, one := range n.Content {
		all = append(all, scalar(one, ""))
	}
	return all, true
}

// text is a string that has to be there; name is what messages call it.
func (c *config) text(n *yaml.Node, key, name string) string {
	value := at(n, key)
	if value == nil || value.Kind != yaml.ScalarNode || value.Tag != text {
		if value == nil {
			value = n
		}
		c.fail(value, name+" is missing, or no string")
		return ""
	}
	return value.Value
}

// version is one that has to be there, as it is written.
func (c *config) version(n *yaml.Node, name string) string {
	value := at(n, "version")
	if value == nil || value.Tag == null {
		c.fail(n, name+" is missing")
		return "1"
	}
	return scalar(value, "a "+value.Tag)
}

func (c *config) tags() []string {
	n := at(c.root, "tags")
	all, _ := texts(n)
	if n != nil && len(all) == 0 {
		c.fail(n, "tags must not be empty, but may be left out")
	}
	return all
}

func (c *config) list(n *yaml.Node, key string) []string {
	value := at(n, key)
	all, ok := texts(value)
	if value != nil && !ok {
		c.fail(value, key+" must be a list")
	}
	return all
}

// variables are those of an environment.
func (c *config) variables(n *yaml.Node, key, name string) map[string]string {
	all := map[string]string{}
	values := at(n, key)
	for _, variable := range keys(values) {
		value := at(values, variable)
		if value.Kind != yaml.ScalarNode || value.Tag != text {
			c.fail(value, fmt.Sprintf("%s.%s must be a string", name, variable))
		}
		all[variable] = value.Value
	}
	return all
}

// limit is a number of seconds as SlopCodeBench takes it: cut to whole seconds, where 0, as
// null, is none.
func (c *config) limit(n *yaml.Node, name string) any {
	if n == nil || n.Tag == null {
		return nil
	}
	seconds, err := strconv.ParseFloat(scalar(n, ""), 64)
	if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > 1e9 {
		c.fail(n, name+" must be a number")
		return nil
	}
	if seconds = math.Floor(seconds); seconds <= 0 {
		return nil
	}
	return fmt.Sprintf("%.0fs", seconds)
}

// groups are SlopCodeBench's names of groups.
var groups = map[string]string{"Core": "core", "Functionality": "functionality", "Regression": "regression", "Error": "error"}

func (c *config) markers() []lang.MadeBlock {
	var all []lang.MadeBlock
	markers := at(c.root, "markers")
	for _, name := range keys(markers) {
		m := at(markers, name)
		group, known := groups[scalar(at(m, "group"), "")]
		if !known {
			c.fail(m, fmt.Sprintf("markers.%s.group must be one of Core, Error, Functionality, Regression", name))
		}
		description := at(m, "description")
		if description == nil || description.Tag != text {
			c.fail(m, fmt.Sprintf("markers.%s.description is missing", name))
		}
		all = append(all, lang.MadeBlock{Kind: "marker", Labels: []string{name}, At: c.files.At(c.path, m),
			Made: lang.Made{Attributes: map[string]any{"group": group, "description": scalar(description, "")}}})
	}
	return all
}

// known are the keys of a checkpoint.
var known = []string{"name", "version", "order", "state", "include_prior_tests", "spec_override", "env", "timeout"}

func (c *config) checkpoints() []lang.MadeBlock {
	own := c.limit(at(c.root, "timeout"), "timeout")
	checkpoints := at(c.root, "checkpoints")
	if checkpoints != nil && checkpoints.Kind != yaml.MappingNode {
		c.fail(checkpoints, "checkpoints must be a map")
	}
	var all []lang.MadeBlock
	for _, name := range keys(checkpoints) {
		n, title := at(checkpoints, name), "checkpoints."+name
		if n.Kind != yaml.MappingNode {
			c.fail(n, title+" must be a map")
			continue
		}
		for _, key := range keys(n) {
			if !slices.Contains(known, key) {
				c.fail(at(n, key), fmt.Sprintf("%s has the unknown key %s", title, key))
			}
		}
		made := map[string]any{
			"version": c.version(n, title+".version"), "timeout": own, "env": c.variables(n, "env", title+".env"),
			"include_prior_tests": !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(scalar(at(n, "include_prior_tests"), "yes"))),
		}
		if limit := at(n, "timeout"); limit != nil {
			made["timeout"] = c.limit(limit, title+".timeout")
		}
		for _, key := range []string{"order", "state"} {
			if value := at(n, key); value != nil && value.Tag != null {
				made[key] = value.Value
			}
		}
		all = append(all, lang.MadeBlock{Kind: "checkpoint", Labels: []string{name}, At: c.files.At(c.path, n), Made: lang.Made{Attributes: made}})
	}
	return all
}

// from is the environment that a file describes.
func (e environment) from(root *yaml.Node) *environment {
	setup, _ := texts(at(at(root, "setup"), "commands"))
	eval, _ := texts(at(at(root, "setup"), "eval_commands"))
	e.kind, e.setup, e.env = scalar(at(root, "type"), ""), append(setup, eval...), map[string]string{}
	commands := at(root, "commands")
	e.entry = scalar(at(commands, "command"), "python") + " " + scalar(at(commands, "entry_file"), "{entry_file}")
	if ignore, ok := texts(at(at(root, "snapshot"), "ignore_globs")); ok {
		e.ignore = ignore
	}
	variables := at(at(root, "environment"), "env")
	for _, name := range keys(variables) {
		e.env[name] = scalar(at(variables, name), "")
	}
	return &e
}
