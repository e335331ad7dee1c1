package harbor

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fevalgraph/fevalgraph/lang"
)

// The digest equals Harbor's, or is empty if Harbor would compute another one.
func TestDigest(t *testing.T) {
	task := func(more ...string) fstest.MapFS {
		all := fstest.MapFS{"task.toml": {Data: []byte("x")}, "tests/test.sh": {Data: []byte("1"), Mode: 0o755}, "notes.txt": {}, "other/\xff": {}}
		for _, name := range more {
			all[name] = &fstest.MapFile{}
		}
		return all
	}
	sums := ""
	for _, file := range []struct{ name, text string }{{"task.toml", "x"}, {"tests/test.sh", "1"}} {
		sums += fmt.Sprintf("%s\x00%x\n", file.name, sha256.Sum256([]byte(file.text)))
	}
	plain := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(sums)))
	linked := task("solution/link")
	linked["solution/link"].Mode = fs.ModeSymlink
	for name, try := range map[string]struct {
		of   fstest.MapFS
		want string
	}{
		"plain": {task(), plain}, "no task": {fstest.MapFS{"tests/test.sh": {}}, ""}, "link": {linked, ""},
		"no text": {task("tests/\xff.txt"), ""}, "directory with a non-text name": {task("tests/\xff/a"), ""},
	} {
		if digest, err := taskDigest(try.of); digest != try.want || err != nil {
			t.Errorf("%s: %q, %v", name, digest, err)
		}
	}
}

// A trial names the version of its task. Whether it is the version here follows from all files of the task, so the
// configuration depends on them.
func TestVersionOfTask(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"fevalgraph.hcl":     "problem \"t\" {\n  harbor {\n    task = \"task\"\n    mode = \"artifacts\"\n  }\n}\nsolution \"recorded\" { harbor_job = \"jobs/j\" }\n",
		"task/task.toml":     "artifacts = [\"/app\"]\n[task]\nname = \"org/t\"\n[environment]\ndocker_image = \"none\"\n",
		"task/tests/test.sh": "", "task/solution/solve.sh": "",
	})
	here, err := taskDigest(os.DirFS(filepath.Join(dir, "task")))
	if err != nil || !isDigest(here) {
		t.Fatal(here, err)
	}
	other := "sha256:" + strings.Repeat("0a", 32)
	lock := func(digest any) string { return object{"schema_version": 2, "task": object{"digest": digest}}.String() }
	for name, text := range map[string]string{
		"same": lock(here), "other": lock(other), "escape": lock("sha256:\x1b[31m"), "number": lock(1), "capitals": lock("sha256:" + strings.Repeat("0A", 32)), "torn": `{"task": {"digest": "`, "old": "",
	} {
		files := map[string]string{"result.json": encodeTrial(name, "org/t", nil), "artifacts/manifest.json": artifactManifest("/app", "directory"), "artifacts/app/x": ""}
		if text != "" {
			files["lock.json"] = text
		}
		lay(t, filepath.Join(dir, "jobs", "j", name), files)
	}
	load := func() *lang.Config {
		cfg, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: append(taskReaders(), jobReader())}})
		if len(found) > 0 || len(cfg.Solutions) != 7 {
			t.Fatal(texts(found))
		}
		return cfg
	}
	versions := func(cfg *lang.Config) map[string][2]string {
		all := map[string][2]string{}
		for _, s := range cfg.Solutions {
			all[s.Name] = [2]string{s.Recorded.Version, s.Recorded.VersionHere}
		}
		return all
	}
	cfg := load()
	for name, want := range map[string][2]string{"same": {here, ""}, "other": {other, here}, "escape": {}, "capitals": {}, "number": {}, "torn": {}, "old": {}} {
		if got := versions(cfg)[name]; got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	for _, want := range []lang.ConfigInput{
		{Kind: "file", Name: filepath.Join(dir, "task", "solution", "solve.sh")},
		{Kind: "fileset", Name: filepath.Join(dir, "task", "tests") + "\x00*"}, {Kind: "file", Name: filepath.Join(dir, "jobs", "j", "old", "lock.json")},
	} {
		if !slices.Contains(cfg.Inputs, want) {
			t.Errorf("the configuration does not depend on %q", want)
		}
	}
	lay(t, dir, map[string]string{"task/solution/solve.sh": "exit 1\n"})
	if got := versions(load()); got["same"][1] == "" || got["same"][1] == here {
		t.Errorf("after a change the version here is %q", got["same"][1])
	}
	if err := os.Symlink("test.sh", filepath.Join(dir, "task", "tests", "link")); err != nil {
		t.Fatal(err)
	}
	if got := versions(load()); got["same"] != [2]string{here, ""} {
		t.Errorf("with a link the version here is not known, and not %q", got["same"])
	}
}
