package lsp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An included file, and a file of variables, are part of the project; texts of files that
// functions read count as they are in the editor.
func TestSeveralFiles(t *testing.T) {
	files := kvstoreFiles()
	files["fevalgraph.hcl"] = "fevalgraph { include = [\"parts/*.hcl\"] }\n" + strings.Replace(kvstore, "default = 20", "default = tonumber(chomp(file(\"limit.txt\")))", 1)
	files["parts/more.hcl"] = "variable \"size\" {\n  type = string\n}\n\nlocals { size = var.size }\n"
	files["my.auto.vars.hcl"] = "size = \"large\"\n"
	files["limit.txt"] = "30\n"
	dir := writeProject(t, files)
	c := start(t, "{}")
	part := c.open(filepath.Join(dir, "parts/more.hcl"))
	if found := c.diagnostics(part); len(found) > 0 {
		t.Fatal(found)
	}
	p := findPosition(t, files["parts/more.hcl"], "var.size", 0)
	p.Character += 5
	var hover struct{ Contents markup }
	c.call("textDocument/hover", c.at(part, p), &hover)
	if !strings.Contains(hover.Contents.Value, `"large"`) {
		t.Errorf("the value from the file of variables is not in %q", hover.Contents.Value)
	}
	main := c.open(filepath.Join(dir, "fevalgraph.hcl"))
	c.openText(filepath.Join(dir, "limit.txt"), "many\n")
	c.edit(main, Range{}, "\n")
	found := c.diagnostics(main)
	if len(found) != 1 || found[0].Code != "function-call" {
		t.Errorf("got %v", found)
	}
}

// Requests about texts outside a project have empty answers.
func TestOtherTexts(t *testing.T) {
	c := start(t, "{}")
	uri := "untitled:Untitled-1"
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": "locals {\na = 1\n}\n"}})
	for method := range requests {
		if err := c.ask(method, json.RawMessage(`{"textDocument": {"uri": "untitled:Untitled-1"}}`), nil); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// Of a project that is closed nothing is shown any more.
func TestClose(t *testing.T) {
	files := kvstoreFiles()
	files["fevalgraph.hcl"] += "nonsense {}\n"
	c, uri := openProject(t, files)
	if found := c.diagnostics(uri); len(found) != 1 {
		t.Fatal(found)
	}
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	c.wait("empty list", func() bool { return len(c.published[uri].Diagnostics) == 0 })
	uri = c.openText(pathOf(uri), files["fevalgraph.hcl"])
	if found := c.diagnostics(uri); len(found) != 1 {
		t.Error(found)
	}
}

// HCL files outside a project have no diagnostics, since they belong to other programs.
func TestForeignFiles(t *testing.T) {
	dir := writeProject(t, map[string]string{"main.tf.hcl": "resource {}\n", "own.feval.hcl": "nonsense {}\n"})
	c := start(t, "{}")
	foreign := c.open(filepath.Join(dir, "main.tf.hcl"))
	own := c.open(filepath.Join(dir, "own.feval.hcl"))
	if found := c.diagnostics(own); len(found) == 0 {
		t.Error("a file of a configuration has no diagnostics")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, published := c.published[foreign]; published {
		t.Errorf("another program's file has %v", p)
	}
}

// Changes of files on disk are noticed, such as a missing file that appears.
func TestWatchedFiles(t *testing.T) {
	files := kvstoreFiles()
	delete(files, "solutions/large/main.py")
	c, uri := openProject(t, files)
	if found := c.diagnostics(uri); len(found) != 1 || found[0].Code != "missing-file" {
		t.Fatal(found)
	}
	dir := filepath.Dir(pathOf(uri))
	large := filepath.Join(dir, "solutions", "large")
	if err := errors.Join(os.MkdirAll(large, 0o755), os.WriteFile(filepath.Join(large, "main.py"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": uriOf(large), "type": 1}}})
	c.wait("news", func() bool { return len(c.published[uri].Diagnostics) == 0 })
}

// Tests are searched when the client reports written files, not at each key stroke: they can be many.
func TestTestsAreNotSearchedAgain(t *testing.T) {
	c, uri := openProject(t, kvstoreFiles())
	if found := c.diagnostics(uri); len(found) > 0 {
		t.Fatal(found)
	}
	test := filepath.Join(filepath.Dir(pathOf(uri)), "tests", "test_one.py")
	if err := os.WriteFile(test, []byte("import main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.edit(uri, Range{}, "\n")
	if found := c.diagnostics(uri); len(found) > 0 {
		t.Error("a key stroke has tests searched:", found)
	}
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": uriOf(test), "type": 2}}})
	c.wait("warning", func() bool {
		found := c.published[uri].Diagnostics
		return len(found) == 1 && found[0].Code == "same-process"
	})
}

func TestRecords(t *testing.T) {
	for path, want := range map[string]bool{
		"/a/.git/index": true, "/a/.fevalgraph/runs/x/events.jsonl": true, "/a/.fevalgraph/latest": true, "/a/tests/test_a.py": false, "/a/latest": false,
	} {
		if got := isRecord(filepath.FromSlash(path)); got != want {
			t.Errorf("%s is a record: %t", path, got)
		}
	}
}
