package lang

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

var update = flag.Bool("update", false, "write what is got into the golden files")

// A case is a txtar archive. Its comment can hold directives, one a line:
//
//	var NAME=VALUE        a --var
//	var-file FILE         a --var-file
//	env NAME=VALUE        a variable of the environment
//	file FILE             -f
//	version V             the running program's
//	symlink LINK TARGET   created next to the files
//	mkdir DIR             created next to the files
//	rawfile NAME          a file whose name is given as a Go string literal
//	eval PROBLEM PATH [CHECKPOINT [BACKEND]]
//
// The file "want" holds the expected output.
func readCase(t *testing.T, file string) (*txtar.Archive, Options) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := map[string]string{}
	o := Options{Inputs: Inputs{Dir: dir}, Version: "0.1.0", Extensions: *testExtensions(), Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	for _, f := range archive.Files {
		if f.Name != "want" {
			write(t, filepath.Join(dir, f.Name), f.Data)
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		args := strings.Fields(rest)
		switch word {
		case "var":
			o.Vars = append(o.Vars, rest)
		case "var-file":
			o.VarFiles = append(o.VarFiles, rest)
		case "env":
			name, value, _ := strings.Cut(rest, "=")
			env[name] = value
		case "file":
			o.File = rest
		case "version":
			o.Version = rest
		case "symlink":
			if err := os.Symlink(args[1], filepath.Join(dir, args[0])); err != nil {
				t.Fatal(err)
			}
		case "mkdir":
			if err := os.MkdirAll(filepath.Join(dir, rest), 0o777); err != nil {
				t.Fatal(err)
			}
		case "rawfile":
			var name string
			if _, err := fmt.Sscanf(rest, "%q", &name); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, name), nil)
		case "eval":
			args = append(args, "", "")
			o.AdHoc = &AdHoc{Problem: args[0], Path: args[1], Checkpoint: args[2], Backend: args[3]}
		case "", "#":
		default:
			t.Fatalf("unknown directive %q", word)
		}
	}
	return archive, o
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// compare checks got against the archive's want, or writes it there.
func compare(t *testing.T, file string, archive *txtar.Archive, got string) {
	t.Helper()
	want, found := "", false
	for i, f := range archive.Files {
		if f.Name == "want" {
			want, found = string(f.Data), true
			archive.Files[i].Data = []byte(got)
		}
	}
	if want == got && found {
		return
	}
	if !*update {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
		return
	}
	if !found {
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

func diagText(list diag.List, dir string) string {
	var b strings.Builder
	for _, d := range list {
		at := ""
		if d.Range != nil {
			at = d.Range.String() + " "
		}
		fmt.Fprintf(&b, "%s%s [%s] %s: %s\n", at, d.Severity, d.Code, d.Summary, d.Detail)
		if d.Context != "" {
			fmt.Fprintf(&b, "  in %s\n", d.Context)
		}
		for _, line := range d.Snippet {
			fmt.Fprintf(&b, "  | %s\n", line)
		}
		for _, v := range d.Values {
			fmt.Fprintf(&b, "  %s is %s\n", v.Expression, v.Value)
		}
		if d.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", d.Hint)
		}
	}
	return strings.ReplaceAll(b.String(), dir, "$DIR")
}

func cases(t *testing.T, dir string) []string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	for i := range files {
		files[i] = filepath.Join(dir, files[i])
	}
	return files
}

func TestDiagnostics(t *testing.T) {
	for _, file := range cases(t, "testdata/diagnostics") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, o := readCase(t, file)
			_, list := Load(o)
			if len(list) == 0 {
				t.Fatal("no diagnostic")
			}
			compare(t, file, archive, diagText(list, o.Dir))
		})
	}
}
