package harbor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// .harborignore applies in tests and solutions, from the top down; the last matching line decides, and files in an
// ignored directory stay ignored.
func TestIgnored(t *testing.T) {
	rules := map[string]string{
		"tests/.harborignore":             "*.log\n!keep.log\nbuild/\n/top\na/**/z\n# a comment\n\\#name\ntrail \n{x}\n",
		"tests/sub/.harborignore":         "!again.log\n",
		"steps/one/tests/.harborignore":   "*\n!test.sh\n",
		"environment/.harborignore":       "*\n",
		"steps/one/workdir/.harborignore": "*\n",
		"solution/.harborignore":          "own/*\n!own/kept\n",
	}
	g := newIgnores(func(rel string) string { return rules[rel] })
	for name, want := range map[string]bool{
		"tests/a.log": true, "tests/keep.log": false, "tests/sub/deep/a.log": true, "tests/sub/again.log": false,
		"tests/build/x": true, "tests/sub/build/x": true, "tests/build/keep.log": true,
		"tests/top": true, "tests/sub/top": false, "tests/a/z": true, "tests/a/b/z": true, "tests/sub/a/z": false,
		"tests/#name": true, "tests/trail": true, "tests/{x}": true, "tests/x": false, "tests/.harborignore": true,
		"steps/one/tests/test.sh": false, "steps/one/tests/other": true, "steps/two/tests/other": false,
		"environment/x": false, "steps/one/workdir/x": false, "steps/one/instruction.md": false, "task.toml": false,
		"solution/own/x": true, "solution/own/kept": false,
	} {
		if got := g.excluded(name, false); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !g.excluded("tests/build", true) || g.excluded("tests/build", false) {
		t.Error("a rule for directories is about them alone")
	}
}

// The root's .gitignore overrides Harbor's list for digests.
func TestDigestIgnores(t *testing.T) {
	lays := func(files map[string]string) string {
		dir := t.TempDir()
		lay(t, dir, files)
		digest, err := taskDigest(os.DirFS(dir))
		if err != nil || !strings.HasPrefix(digest, "sha256:") {
			t.Fatalf("%q, %v", digest, err)
		}
		return digest
	}
	plain := lays(map[string]string{"task.toml": "x", "tests/test.sh": "1"})
	for name, more := range map[string]map[string]string{
		"left out by default": {"tests/__pycache__/a": "", "tests/a.pyc": "", "environment/a~": ""},
		"left out of tests":   {"tests/.harborignore": "*.log\n", "tests/a.log": ""},
		"left out by its own": {".gitignore": "*.log\nout/\n", "environment/a.log": "", "tests/out/a": ""},
	} {
		files := map[string]string{"task.toml": "x", "tests/test.sh": "1"}
		for file, text := range more {
			files[file] = text
		}
		if lays(files) != plain {
			t.Errorf("%s: another digest", name)
		}
	}
	if lays(map[string]string{"task.toml": "x", "tests/test.sh": "1", ".gitignore": "none\n", "tests/a.pyc": ""}) == plain {
		t.Error("a file that its own .gitignore does not list is not in the digest")
	}
}

// A verifier's tests exclude ignored files.
func TestTestsLeftOut(t *testing.T) {
	files := map[string]string{
		"task.toml":              "artifacts = [\"/app\"]\n[task]\nname = \"own/x\"\n[verifier]\nenvironment_mode = \"separate\"\n",
		"environment/Dockerfile": "FROM own\nWORKDIR /app\n", "tests/test.sh": "", "tests/a.log": "", "tests/sub/[b].log": "", "tests/kept": "",
		"tests/.harborignore": "*.log\n",
	}
	cfg, said := layTask(t, "", files)
	if cfg == nil {
		t.Fatal(said)
	}
	v := cfg.Problems[0].Checkpoints[0].Verifier
	var names []string
	for _, path := range v.LeaveOut {
		rel, err := filepath.Rel(v.Tests[0], path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	if slices.Sort(names); !slices.Equal(names, []string{"a.log", "sub/[b].log"}) {
		t.Errorf("left out: %q", names)
	}
}
