package scbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/lang"
)

// config is a config.yaml that is read as SlopCodeBench's own loader does: what that
// refuses is an error with its line.
type config struct{ *document.File }

func openConfig(files *lang.ReaderFiles, path string) *config {
	return &config{document.OpenYAML(files, path)}
}

// text returns a required string; name is its name in messages.
func (c *config) text(n *yaml.Node, key, name string) string {
	value := document.At(n, key)
	if value == nil || value.Kind != yaml.ScalarNode || value.Tag != document.Text {
		if value == nil {
			value = n
		}
		c.Fail(value, name+" is missing, or not a string")
		return ""
	}
	return value.Value
}

// version returns a required version, as it is written.
func (c *config) version(n *yaml.Node, name string) string {
	value := document.At(n, "version")
	if value == nil || value.Tag == document.Null {
		c.Fail(n, name+" is missing")
		return "1"
	}
	return document.Scalar(value, "a "+value.Tag)
}

func (c *config) tags() []string {
	n := document.At(c.Root, "tags")
	all, _ := document.Texts(n)
	if n != nil && len(all) == 0 {
		c.Fail(n, "tags must not be empty; omit the key instead")
	}
	return all
}

func (c *config) list(n *yaml.Node, key string) []string {
	value := document.At(n, key)
	all, ok := document.Texts(value)
	if value != nil && !ok {
		c.Fail(value, key+" must be a list")
	}
	return all
}

// variables returns the variables of an environment.
func (c *config) variables(n *yaml.Node, key, name string) map[string]string {
	all := map[string]string{}
	values := document.At(n, key)
	for _, variable := range document.Keys(values) {
		value := document.At(values, variable)
		if value.Kind != yaml.ScalarNode || value.Tag != document.Text {
			c.Fail(value, fmt.Sprintf("%s.%s must be a string", name, variable))
		}
		all[variable] = value.Value
	}
	return all
}

// limit returns a number of seconds as SlopCodeBench takes it: cut to whole seconds; 0, like null, means no
// limit.
func (c *config) limit(n *yaml.Node, name string) any {
	if n == nil || n.Tag == document.Null {
		return nil
	}
	seconds, err := strconv.ParseFloat(document.Scalar(n, ""), 64)
	if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > 1e9 {
		c.Fail(n, name+" must be a number")
		return nil
	}
	if seconds = math.Floor(seconds); seconds <= 0 {
		return nil
	}
	return fmt.Sprintf("%.0fs", seconds)
}

// groups are SlopCodeBench's names of groups.
var groups = map[string]string{"Core": "core", "Functionality": "functionality", "Regression": "regression", "Error": "error"}

// markers returns the markers of config.yaml, which have groups, and others that are only registered.
func (c *config) markers(others []marker) []lang.MadeBlock {
	var all []lang.MadeBlock
	markers := document.At(c.Root, "markers")
	for _, m := range others {
		if document.At(markers, m.name) == nil {
			all = append(all, lang.MadeBlock{Kind: "marker", Labels: []string{m.name}, Made: lang.Made{Attributes: map[string]any{"description": m.description}}})
		}
	}
	for _, name := range document.Keys(markers) {
		m := document.At(markers, name)
		group, known := groups[document.Scalar(document.At(m, "group"), "")]
		if !known {
			c.Fail(m, fmt.Sprintf("markers.%s.group must be one of Core, Error, Functionality, Regression", name))
		}
		description := document.At(m, "description")
		if description == nil || description.Tag != document.Text {
			c.Fail(m, fmt.Sprintf("markers.%s.description is missing", name))
		}
		all = append(all, lang.MadeBlock{Kind: "marker", Labels: []string{name}, At: c.Place(m),
			Made: lang.Made{Attributes: map[string]any{"group": group, "description": document.Scalar(description, "")}}})
	}
	return all
}

// known are the keys of a checkpoint.
var known = []string{"name", "version", "order", "state", "include_prior_tests", "spec_override", "env", "timeout"}

func (c *config) checkpoints(conversion conversion) []lang.MadeBlock {
	own := c.limit(document.At(c.Root, "timeout"), "timeout")
	checkpoints := document.At(c.Root, "checkpoints")
	if checkpoints != nil && checkpoints.Kind != yaml.MappingNode {
		c.Fail(checkpoints, "checkpoints must be a map")
	}
	var all []lang.MadeBlock
	for _, name := range document.Keys(checkpoints) {
		n, title := document.At(checkpoints, name), "checkpoints."+name
		if n.Kind != yaml.MappingNode {
			c.Fail(n, title+" must be a map")
			continue
		}
		for _, key := range document.Keys(n) {
			if !slices.Contains(known, key) {
				c.Fail(document.At(n, key), fmt.Sprintf("%s has the unknown key %s", title, key))
			}
		}
		made := map[string]any{
			"version": c.version(n, title+".version"), "timeout": own, "env": c.variables(n, "env", title+".env"),
			"include_prior_tests": !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(document.Scalar(document.At(n, "include_prior_tests"), "yes"))),
		}
		if limit := document.At(n, "timeout"); limit != nil {
			made["timeout"] = c.limit(limit, title+".timeout")
		}
		if before := conversion.before(name); before != "" {
			made["before"] = before
		}
		for _, key := range []string{"order", "state"} {
			if value := document.At(n, key); value != nil && value.Tag != document.Null {
				made[key] = value.Value
			}
		}
		all = append(all, lang.MadeBlock{Kind: "checkpoint", Labels: []string{name}, At: c.Place(n), Made: lang.Made{Attributes: made}})
	}
	return all
}

// merged returns the environment that a file describes.
func (e environment) merged(root *yaml.Node) *environment {
	setup, _ := document.Texts(document.At(root, "setup", "commands"))
	eval, _ := document.Texts(document.At(root, "setup", "eval_commands"))
	e.kind, e.setup, e.env = document.Scalar(document.At(root, "type"), ""), append(setup, eval...), map[string]string{}
	commands := document.At(root, "commands")
	e.entry = document.Scalar(document.At(commands, "command"), "python") + " " + document.Scalar(document.At(commands, "entry_file"), "{entry_file}")
	if ignore, ok := document.Texts(document.At(root, "snapshot", "ignore_globs")); ok {
		e.ignore = ignore
	}
	variables := document.At(root, "environment", "env")
	for _, name := range document.Keys(variables) {
		e.env[name] = document.Scalar(document.At(variables, name), "")
	}
	return &e
}
