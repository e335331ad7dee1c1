package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const hintDivide = `omit it, or write split = "none"`

// divisible finds the test files of a problem that run separately, and reports anything that would make
// their joint result differ from a single run. Undetectable dependencies, such as a fixture that one file
// leaves for the next, are the user's responsibility.
func (b *block) divisible(p *Pytest) {
	for i, arg := range p.Args {
		previous := ""
		if i > 0 {
			previous = p.Args[i-1]
		}
		if why := indivisible(arg, previous, p.Directory); why != "" {
			b.reject("args", "not-divisible", "Tests that cannot be divided", fmt.Sprintf("args has %q, but %s.", arg, why), hintDivide)
		}
	}
	if p.RootFrom != nil {
		b.reject("split", "not-divisible", "Tests that cannot be divided", "The test files that a task makes, and their imports, are unknown until it has run.",
			`write split = "none"; or keep the test files in a directory, and use the task's output as an asset`)
	}
	if p.Root == "" { // it has an error itself
		return
	}
	entries, err := os.ReadDir(p.Root)
	if err != nil {
		b.reject("root", "unreadable-file", "Unreadable directory", pathReason(b.l.show(p.Root), err), "")
		return
	}
	b.l.input("fileset", p.Root+"\x00*.py")
	var modules []string // missing in runs of other files
	for _, e := range entries {
		module, ok := strings.CutSuffix(e.Name(), ".py")
		if !ok || !strings.HasPrefix(module, "test_") || e.IsDir() {
			continue
		}
		modules = append(modules, module)
		p.TestFiles = append(p.TestFiles, e.Name())
		if strings.Contains(module, "[") || strings.Contains(module, "::") {
			b.reject("split", "not-divisible", "Tests that cannot be divided",
				fmt.Sprintf("pytest cannot run only %q: it takes a part of the name for a test.", b.l.show(filepath.Join(p.Root, e.Name()))), "rename it")
		}
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".py") && !e.IsDir() {
			b.divisibleFile(filepath.Join(p.Root, e.Name()), modules)
		}
	}
}

// divisibleFile checks one Python file directly in the pytest root.
func (b *block) divisibleFile(file string, modules []string) {
	b.l.input("file", file)
	text, err := b.l.readFile(file)
	if err != nil {
		b.reject("root", "unreadable-file", "Unreadable file", pathReason(b.l.show(file), err), "")
		return
	}
	own := strings.TrimSuffix(filepath.Base(file), ".py")
	for line := range strings.Lines(string(text)) {
		for _, module := range imported(line) {
			if module != own && slices.Contains(modules, module) {
				b.reject("split", "not-divisible", "Tests that cannot be divided",
					fmt.Sprintf("%q imports %s, which is missing when test files run separately.", b.l.show(file), module),
					"move the shared code into a file that is not named test_*.py")
				return
			}
		}
		if own == "conftest" && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			for _, word := range []string{"collect_ignore", "pytest_ignore_collect"} {
				if strings.Contains(line, word) {
					b.reject("split", "not-divisible", "Tests that cannot be divided",
						fmt.Sprintf("%q has %s, but %s.", b.l.show(file), word, namesItsFile), hintDivide)
					return
				}
			}
		}
	}
}

// imported lists the modules that a line of Python imports, by the last part
// of their names: "import a.b, c" gives b and c.
func imported(line string) []string {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
	names, ok := strings.CutPrefix(line, "import ")
	if from, isFrom := strings.CutPrefix(line, "from "); isFrom {
		module, list, found := strings.Cut(from, " import ")
		if module = strings.TrimSpace(module); strings.Trim(module, ".") != "" {
			list = module
		}
		names, ok = strings.Trim(list, " ()"), found
	}
	if !ok {
		return nil
	}
	var modules []string
	for name := range strings.SplitSeq(names, ",") {
		if words := strings.Fields(name); len(words) > 0 {
			modules = append(modules, words[0][strings.LastIndex(words[0], ".")+1:])
		}
	}
	return modules
}
