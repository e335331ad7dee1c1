package lang

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/maruel/natural"
)

// pytest reads the pytest driver of a problem and checks that its root contains tests.
func (b *block) pytest() *Pytest {
	p := &Pytest{Range: convertRange(b.header), RootRange: convertRange(b.at("root").rng)}
	b.fill(p)
	skipped, _ := b.text("skipped_tests")
	p.OmitSkipped = skipped == "omit"
	if p.RootFrom = b.treeOf("root"); p.RootFrom == nil {
		if root, g := b.path("root"); g == isSet && b.testRoot(root, p.mayLackTests()) {
			p.Root = root
		}
	}
	p.Plain = p.Root == "" || !b.declaresOptions(p.Root)
	p.Import, p.ImportReads, p.Confined = b.imports()
	p.Ports, _ = b.integers("ports", 1, 65535)
	slices.Sort(p.Ports)
	p.Ports = slices.Compact(p.Ports)
	return p
}

// mayLackTests reports whether a missing test file is not an error.
func (p *Pytest) mayLackTests() bool { return p.MissingTests != "error" }

// testRoot reports whether root is a directory that contains a test_*.py, which is optional with mayLack.
func (b *block) testRoot(root string, mayLack bool) bool {
	info, ok := b.stat("root", root, "it is relative to "+b.l.show(b.src.path))
	if !ok {
		return false
	}
	if !info.IsDir() {
		b.reject("root", "not-a-directory", "Not a directory", fmt.Sprintf("%q is not a directory.", b.l.show(root)), "")
		return false
	}
	b.l.input("fileset", root+"\x00test_*.py")
	entries, err := os.ReadDir(root)
	if err != nil {
		b.reject("root", "unreadable-file", "Unreadable directory", pathReason(b.l.show(root), err), "")
		return false
	}
	if !mayLack && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), "test_") && strings.HasSuffix(e.Name(), ".py")
	}) {
		b.reject("root", "no-tests", "Problem without tests", fmt.Sprintf("No test_*.py found in %q.", b.l.show(root)), "write a test_*.py; each is a checkpoint, unless there are checkpoint blocks")
		return false
	}
	return true
}

// declaresOptions reports whether the tests' conftest.py mentions the options that pytest is started with.
func (b *block) declaresOptions(root string) bool {
	file := filepath.Join(root, "conftest.py")
	b.l.input("file", file)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := b.l.readFile(file)
	if err != nil {
		b.reject("root", "unreadable-file", "Unreadable file", pathReason(b.l.show(file), err), "")
	}
	return strings.Contains(string(text), "--entrypoint") && strings.Contains(string(text), "--checkpoint")
}

// discoverCheckpoints returns a checkpoint for each test file, as if a block without attributes declared it.
func (b *block) discoverCheckpoints(p *Pytest) (all []*block) {
	if p == nil || p.Root == "" {
		return nil
	}
	entries, _ := os.ReadDir(p.Root) // set by testRoot
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name, isPython := strings.CutSuffix(e.Name(), ".py")
		name, isTest := strings.CutPrefix(name, "test_")
		if isPython && isTest && !e.IsDir() {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(x, y string) int {
		switch {
		case natural.Less(x, y):
			return -1
		case natural.Less(y, x):
			return 1
		}
		return 0
	})
	for _, name := range names {
		all = append(all, b.l.openBody(b.decl, &hclsyntax.Body{}, []string{name}, hclRange(p.RootRange), b.schema.Block("checkpoint"), b.ctx))
	}
	return all
}

// testFiles reads a checkpoint's own test files and checks that they exist. The list includes missing ones:
// it also records which checkpoint a file belongs to.
func (b *block) testFiles(driver *Pytest) []string {
	tests, g := b.texts("tests")
	if g == isAbsent || g == isNull {
		tests = []string{"test_" + b.label() + ".py"}
	}
	if g == isSet && len(tests) == 0 {
		b.reject("tests", "no-tests", "Checkpoint without tests", "tests is empty.", "omit it for test_"+b.label()+".py")
	}
	for i, test := range tests {
		if !isRelativeInside(test) || path.Ext(test) != ".py" {
			b.reject("tests", "bad-path", "Bad test file", fmt.Sprintf("%q is not a plain path of a .py file relative to the pytest root.", test), "")
			continue
		}
		if slices.Contains(tests[:i], test) {
			b.reject("tests", "duplicate", "Duplicate test file", fmt.Sprintf("%q is listed twice.", test), "")
			continue
		}
		if driver != nil && driver.RootFrom != nil { // checked when the task has run
			continue
		}
		if driver == nil || driver.Root == "" { // it has an error itself
			b.decl.failed = true
			continue
		}
		file := filepath.Join(driver.Root, filepath.FromSlash(test))
		b.l.input("exists", file)
		info, err := os.Stat(file)
		switch {
		case isMissing(err) && driver.mayLackTests():
		case isMissing(err):
			b.reject("tests", "missing-test-file", "Missing test file",
				fmt.Sprintf("%q not found; it must contain the tests of checkpoint %q.", b.l.show(file), b.label()),
				"write it, or list the checkpoint's files in tests = [ … ]; with missing_tests = \"skip\" only the tests of other files run")
		case err != nil:
			b.reject("tests", "unreadable-file", "Unreadable file", pathReason(b.l.show(file), err), "")
		case !info.Mode().IsRegular():
			b.reject("tests", "missing-test-file", "Missing test file", fmt.Sprintf("%q is not a file.", b.l.show(file)), "")
		}
	}
	return tests
}
