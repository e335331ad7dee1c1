package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// listReader reads problems from files with a line for each checkpoint: its name and its limit.
func listReader() []lang.Reader {
	path := lang.AttributeSchema{Name: "path", Type: lang.TypeText, Path: true, Doc: "The file."}
	read := func(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
		text, err := files.Read(given["path"])
		if err != nil {
			return nil, diag.List{{Code: "missing-file", Summary: "File not read", Detail: err.Error()}}
		}
		made := &lang.Made{Attributes: map[string]any{"title": "read", "entry": "python a.py", "tags": []string{"read"}}}
		made.Blocks = []lang.MadeBlock{{Kind: "pytest", Made: lang.Made{Attributes: map[string]any{"root": filepath.Join(filepath.Dir(given["path"]), "tests")}}}}
		sources := lang.ByCheckpoint{}
		for i, line := range strings.Fields(text) {
			name, limit, ok := strings.Cut(line, "=")
			at := diag.Range{File: "list", Start: diag.Pos{Line: i + 1, Column: 1}, End: diag.Pos{Line: i + 1, Column: 1}}
			if !ok {
				return nil, diag.List{{Code: "bad-list", Summary: "Bad line", Detail: line + " has no limit.", Range: &at}}
			}
			made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "checkpoint", Labels: []string{name}, At: at, Made: lang.Made{Attributes: map[string]any{"timeout": limit, "order": i + 1}}})
			sources[name] = filepath.Join(filepath.Dir(given["path"]), name)
		}
		if given["solution"] != "" {
			return &lang.Made{Attributes: map[string]any{"source": sources, "missing": "skip"}}, nil
		}
		return made, nil
	}
	return []lang.Reader{
		{Owner: "problem", Driver: "pytest", Read: read, Block: lang.BlockSchema{Name: "list", Attributes: []lang.AttributeSchema{path}}},
		{Owner: "solution", Read: read, Block: lang.BlockSchema{Name: "list", Attributes: []lang.AttributeSchema{
			path, {Name: "solution", Type: lang.TypeText, Default: `"yes"`, Doc: "Set."},
		}}},
	}
}

func readProject(t *testing.T, list, problem string) (*lang.Config, diag.List) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"list": list, "tests/test_one.py": "", "tests/test_two.py": "", "one/a.py": "",
		"fevalgraph.hcl": "problem \"p\" {\n  list { path = \"list\" }\n" + problem + "}\n\nsolution \"s\" {\n  problem = problem.p\n  list {}\n}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: listReader()}})
}

// Attributes of the reader apply where HCL has none; if both set one, HCL wins.
func TestReader(t *testing.T) {
	cfg, found := readProject(t, "one=10s\ntwo=20s\n", "  title = \"written\"\n  checkpoint \"two\" { version = 3 }\n  checkpoint \"one\" { timeout = \"1m\" }\n")
	if len(found) > 0 {
		t.Fatal(found)
	}
	p, s := cfg.Problems[0], cfg.Solutions[0]
	var got []string
	for i, c := range p.Checkpoints {
		got = append(got, fmt.Sprintf("%s v%d %s %s %t", c.Name, c.Version, c.Timeout, filepath.Base(s.Checkpoints[i].Source), s.Checkpoints[i].Missing))
	}
	if want := []string{"one v1 1m0s one false", "two v3 20s two true"}; !slices.Equal(got, want) || p.Title != "written" || !slices.Equal(p.Tags, []string{"read"}) || p.Entry != "python a.py" {
		t.Errorf("got %q, %+v", got, p)
	}
	read := slices.ContainsFunc(cfg.Inputs, func(in lang.ConfigInput) bool { return in.Kind == "file" && filepath.Base(in.Name) == "list" })
	if !read {
		t.Errorf("that the file was read is in none of %v", cfg.Inputs)
	}
}

// Errors of a reader, and of values made from it, have locations in its file.
func TestReaderMistakes(t *testing.T) {
	for _, m := range []struct{ list, problem, code, file string }{
		{"one\n", "", "bad-list", "list"},
		{"one=10s\ntwo=soon\n", "", "bad-duration", "list"},
		{"three=10s\n", "", "missing-test-file", "list"},
		{"one=10s\n", "  list { path = \"list\" }\n", "duplicate", "fevalgraph.hcl"},
		{"one=10s\n", "  checkpoint \"one\" { timeout = \"soon\" }\n", "bad-duration", "fevalgraph.hcl"},
	} {
		_, found := readProject(t, m.list, m.problem)
		if len(found) == 0 || found[0].Code != m.code || found[0].Range == nil || found[0].Range.File != m.file {
			t.Errorf("%q, %q: %+v", m.list, m.problem, found)
		}
	}
}
