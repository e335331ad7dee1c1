package scbench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// conversion is what a checkout's conversion.toml says about a problem, as far as it is about
// how tests run: the file is for the conversion to another benchmark's tasks.
type conversion struct {
	Limit    float64 `toml:"verifier_timeout_sec"` // of a checkpoint's tests together, in seconds; 0 is none
	Snippet  any     `toml:"test_sh_snippet"`
	Snippets any     `toml:"test_sh_snippets"` // text, list, or table of checkpoints, "all" and "*"
}

// conversionOf reads the part of conversion.toml that is about a problem. A mistake in it is
// one of c.
func conversionOf(files *lang.ReaderFiles, dir string, c *config) conversion {
	above := filepath.Dir(dir)
	for _, root := range []string{filepath.Dir(above), above} { // problems/NAME, or NAME
		path := filepath.Join(root, "conversion.toml")
		if !files.Exists(path) {
			continue
		}
		text, err := files.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		all := map[string]conversion{}
		if err == nil {
			err = toml.Unmarshal([]byte(text), &all)
		}
		own := all[filepath.Base(dir)]
		if err == nil {
			err = own.check()
		}
		if err != nil {
			c.Mistakes = append(c.Mistakes, mistakeIn(path, err))
			return conversion{}
		}
		return own
	}
	return conversion{}
}

func mistakeIn(path string, err error) diag.Diagnostic {
	d := diag.Diagnostic{Code: "bad-toml", Summary: "Bad conversion.toml", Detail: fmt.Sprintf("%v.", err), Range: &diag.Range{File: path, Start: diag.Pos{Line: 1, Column: 1}, End: diag.Pos{Line: 1, Column: 1}}}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		d.Range.Start = diag.Pos{Line: line, Column: column}
		d.Range.End = d.Range.Start
	}
	return d
}

func (c conversion) check() error {
	if c.Limit < 0 || c.Limit > 1e9 {
		return fmt.Errorf("verifier_timeout_sec must be a number of seconds, not %g", c.Limit)
	}
	if _, ok := lines(c.Snippet); !ok {
		return errors.New("test_sh_snippet must be a string")
	}
	table, ok := c.Snippets.(map[string]any)
	if !ok {
		table = map[string]any{"all": c.Snippets}
	}
	for _, value := range table {
		if _, ok := lines(value); !ok {
			return errors.New("test_sh_snippets must be a string, a list of strings, or a table of these")
		}
	}
	return nil
}

// before are the snippets for a checkpoint.
func (c conversion) before(checkpoint string) string {
	found := []any{c.Snippet, c.Snippets}
	if table, ok := c.Snippets.(map[string]any); ok {
		found = []any{c.Snippet, table["all"], table["*"], table[checkpoint]}
	}
	var all []string
	for _, value := range found {
		some, _ := lines(value)
		all = append(all, some...)
	}
	return strings.Join(all, "\n")
}

// lines are those of a text or of a list of texts; nil has none.
func lines(value any) (all []string, ok bool) {
	switch value := value.(type) {
	case nil:
		return nil, true
	case string:
		return []string{value}, true
	case []any:
		for _, one := range value {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			all = append(all, text)
		}
		return all, true
	}
	return nil, false
}

// markerName is what the language takes for one: an identifier of Python.
var markerName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// marker is one that a pytest.ini registers.
type marker struct{ name, description string }

// registered are the markers of the pytest.ini that a problem has beside its tests. Nothing
// else of it counts: the one that tests run with is made for each run.
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
