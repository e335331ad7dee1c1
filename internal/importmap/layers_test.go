package importmap

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// layers are the lines of the block in ARCHITECTURE.md, top first: a name, and directories. A directory stands for
// everything in it that no other layer lists.
type layers [][]string

// of returns the layer of a package, or -1.
func (l layers) of(folder string) int {
	found, longest := -1, 0
	for at, folders := range l {
		for _, f := range folders {
			if within(folder, f) && len(f) > longest {
				found, longest = at, len(f)
			}
		}
	}
	return found
}

// check returns a line for every package without a layer, and for every import of a higher layer.
func (l layers) check(packages []listed) (problems []string) {
	for _, p := range packages {
		from, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok || isForTests(from) || outsideLayers(from) {
			continue
		}
		at := l.of(from)
		if at < 0 {
			problems = append(problems, from+" is in no layer of ARCHITECTURE.md")
		}
		for _, path := range p.Imports {
			to, ours := strings.CutPrefix(path, module)
			if below := l.of(to); ours && at >= 0 && below >= 0 && below < at {
				problems = append(problems, fmt.Sprintf("%s imports %s, which is in a layer above it in ARCHITECTURE.md", from, to))
			}
		}
	}
	return problems
}

// outsideLayers reports whether a package does not belong to the program.
func outsideLayers(folder string) bool {
	return slices.ContainsFunc([]string{"bench", "docs", "internal/importmap"}, func(f string) bool { return within(folder, f) })
}

// section returns the text of ARCHITECTURE.md below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("ARCHITECTURE.md: section %q not found", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// TestLayers: imports go down the layers of ARCHITECTURE.md.
func TestLayers(t *testing.T) {
	_, block, _ := strings.Cut(section(t, "Imports"), "```\n")
	block, _, _ = strings.Cut(block, "```")
	var all layers
	for line := range strings.Lines(block) {
		_, folders, _ := strings.Cut(line, "  ")
		all = append(all, strings.Fields(folders))
		for _, f := range strings.Fields(folders) {
			if info, err := os.Stat("../../" + f); err != nil || !info.IsDir() {
				t.Errorf("ARCHITECTURE.md lists the folder %s, which does not exist", f)
			}
		}
	}
	for _, problem := range all.check(list(t)) {
		t.Error(problem)
	}
}

// TestLayersCheck: imports of a higher layer and packages without a layer are found.
func TestLayersCheck(t *testing.T) {
	l := layers{{"eval"}, {"backend/docker"}, {"plan", "eval/kind"}, {"backend"}}
	for _, try := range []struct{ from, imports, want string }{
		{"eval/run", "plan", ""},
		{"backend/docker", "eval/kind", ""},
		{"backend/docker/x", "backend", ""},
		{"backend/local", "backend/worker", ""},
		{"backend/local", "backend/docker", "backend/local imports backend/docker, which is in a layer above"},
		{"plan", "eval/options", "plan imports eval/options, which is in a layer above"},
		{"evaluate", "plan", "evaluate is in no layer"},
		{"bench/engine", "plan", ""},
	} {
		got := l.check([]listed{{ImportPath: module + try.from, Imports: []string{module + try.imports}}})
		if len(got) > 1 || !strings.HasPrefix(strings.Join(got, ""), try.want) || (try.want == "") != (len(got) == 0) {
			t.Errorf("%s imports %s: %q, want %q", try.from, try.imports, got, try.want)
		}
	}
}

// TestDependencies: the table of ARCHITECTURE.md has a reason for each module that go.mod requires, and
// for no other.
func TestDependencies(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, r := range mod.Require {
		if !r.Indirect {
			required[strings.TrimPrefix(r.Mod.Path, "github.com/")] = true
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllStringSubmatch(section(t, "Dependencies"), -1) {
		for _, name := range strings.Split(row[1], ", ") {
			if strings.Contains(name, "/") && !required[name] {
				t.Errorf("ARCHITECTURE.md gives a reason for %s, which go.mod does not require", name)
			}
			delete(required, name)
		}
	}
	for name := range required {
		t.Errorf("ARCHITECTURE.md: reason for %s not found", name)
	}
}

// TestPackageDocs: each package has a doc.
func TestPackageDocs(t *testing.T) {
	for _, p := range list(t) {
		want := "Package " + p.Name + " "
		if p.Name == "main" {
			want = ""
		}
		if (p.Doc == "" || !strings.HasPrefix(p.Doc, want)) && !outsideLayers(strings.TrimPrefix(p.ImportPath, module)) {
			t.Errorf("the doc of %s is %q; begin it with %q", p.ImportPath, p.Doc, want)
		}
	}
}
