package scbench

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
)

// conversion is the part of a checkout's conversion.toml that describes how a problem's tests run. The file
// is for the conversion to another benchmark's tasks.
type conversion struct {
	Limit    float64  // verifier_timeout_sec: of a checkpoint's tests together, in seconds; 0 means no limit
	all      []string // snippets for every checkpoint
	snippets map[string][]string
}

// conversionOf reads the part of conversion.toml that is about a problem. An error in it is
// one of c.
func conversionOf(files *lang.ReaderFiles, dir string, c *config) conversion {
	above := filepath.Dir(dir)
	for _, root := range []string{filepath.Dir(above), above} { // problems/NAME, or NAME
		path := filepath.Join(root, "conversion.toml")
		if !files.Exists(path) {
			continue
		}
		f := document.OpenTOML(files, path)
		own := readConversion(f, document.At(f.Root, filepath.Base(dir)))
		c.Mistakes = append(c.Mistakes, f.Mistakes...)
		return own
	}
	return conversion{}
}

func readConversion(f *document.File, own *yaml.Node) (c conversion) {
	if n := document.At(own, "verifier_timeout_sec"); n != nil {
		var err error
		if c.Limit, err = strconv.ParseFloat(document.Scalar(n, ""), 64); err != nil || c.Limit < 0 || c.Limit > 1e9 {
			f.Fail(n, "verifier_timeout_sec must be a number of seconds")
		}
	}
	c.all = lines(f, document.At(own, "test_sh_snippet"))
	table := document.At(own, "test_sh_snippets")
	if table == nil || table.Kind != yaml.MappingNode {
		c.all = append(c.all, lines(f, table)...)
		return c
	}
	c.all = append(append(c.all, lines(f, document.At(table, "all"))...), lines(f, document.At(table, "*"))...)
	c.snippets = map[string][]string{}
	for _, checkpoint := range document.Keys(table) {
		if checkpoint != "all" && checkpoint != "*" {
			c.snippets[checkpoint] = lines(f, document.At(table, checkpoint))
		}
	}
	return c
}

// before returns the snippets for a checkpoint.
func (c conversion) before(checkpoint string) string {
	return strings.Join(slices.Concat(c.all, c.snippets[checkpoint]), "\n")
}

// lines returns the lines of a text or of a list of texts, and nil for nil.
func lines(f *document.File, n *yaml.Node) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode && n.Tag == document.Text:
		return []string{n.Value}
	case n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(one *yaml.Node) bool { return one.Tag != document.Text }):
		all, _ := document.Texts(n)
		return all
	}
	f.Fail(n, "a snippet must be a string, or a list of strings")
	return nil
}

// markerName matches the names of markers that the language accepts: identifiers of Python.
var markerName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// marker is a marker that a pytest.ini registers.
type marker struct{ name, description string }

// registered returns the markers of the pytest.ini next to a problem's tests. The rest of it is ignored:
// each run gets a pytest.ini that is made for it.
func registered(files *lang.ReaderFiles, dir string) []marker {
	path := filepath.Join(dir, "pytest.ini")
	if !files.Exists(path) {
		return nil
	}
	text, err := files.Read(path)
	if err != nil {
		return nil // such as a directory of that name
	}
	var all []marker
	section, key := "", ""
	for line := range strings.Lines(text) {
		content := strings.TrimSpace(line)
		continues := line != strings.TrimLeft(line, " \t")
		switch {
		case content == "" || content[0] == '#' || content[0] == ';':
			continue
		case !continues && content[0] == '[':
			section, key = strings.Trim(content, "[]"), ""
			continue
		case !continues:
			var value string
			key, value, _ = strings.Cut(content, "=")
			key, content = strings.TrimSpace(key), strings.TrimSpace(value)
		}
		if section != "pytest" || key != "markers" || content == "" {
			continue
		}
		name, description, _ := strings.Cut(content, ":")
		name, _, _ = strings.Cut(name, "(")
		if name = strings.TrimSpace(name); markerName().MatchString(name) {
			all = append(all, marker{name, strings.TrimSpace(description)})
		}
	}
	return all
}
