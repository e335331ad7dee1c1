//go:build unix

package examples_test

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/report"
)

// The steps of ci/ in the workflows that call them, each in separate pipelines.
func TestCI(t *testing.T) {
	longtest.Skip(t)
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin, "github.com/fevalgraph/fevalgraph/cmd/fevalgraph", "github.com/fevalgraph/fevalgraph/internal/testkit/fakeuv/standin").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, test := range map[string]func(*testing.T, *pipelines){
		"install": ciInstall, "recipe": ciRecipe, "evaluate": ciEvaluates, "lost": ciShardLost, "key": ciKey, "comment": ciComment, "validate": ciValidates, "batch": ciBatch, "child": ciChild,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, ciProject(t, bin))
		})
	}
}

// ciProject returns pipelines of the project of testdata/ci.txtar, with fevalgraph and a stand-in for uv installed.
func ciProject(t *testing.T, bin string) *pipelines {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "ci.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	p := &pipelines{t: t, project: t.TempDir(), bin: t.TempDir(), cache: t.TempDir(), values: map[string]string{
		"secrets.STORE_KEY": "", "github.event.number": "", "github.ref == 'refs/heads/main'": "true", "github.token": "token"}}
	if err := txtar.Write(archive, p.project); err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{"fevalgraph": "fevalgraph", "uv": "standin", "uvx": "standin"} {
		if err := os.Symlink(filepath.Join(bin, program), filepath.Join(p.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.fevalgraph(0, "lock") // which the project has in git
	return p
}

// Without fevalgraph, the wheel next to the steps is installed, and nothing is looked for in an index.
func ciInstall(t *testing.T, p *pipelines) {
	w := readWorkflow(t, "evaluate.yml")
	if err := os.Remove(filepath.Join(p.bin, "fevalgraph")); err != nil {
		t.Fatal(err)
	}
	p.begin()
	if good, printed, _ := p.job(w, "plan", nil); good || p.code != 2 || !strings.Contains(printed, "commit it as ci/fevalgraph-*.whl, or set FG_WHEEL") {
		t.Errorf("without a wheel the job ended with %d:\n%s", p.code, printed)
	}
	wheel := filepath.Join(p.project, "ci", "fevalgraph-1-py3-none-any.whl")
	if err := os.MkdirAll(filepath.Dir(wheel), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, content := range map[string]string{
		"fevalgraph-1.dist-info/METADATA":      "Metadata-Version: 2.1\nName: fevalgraph\nVersion: 1\n",
		"fevalgraph-1.dist-info/WHEEL":         "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"fevalgraph-1.dist-info/RECORD":        "",
		"fevalgraph-1.data/scripts/fevalgraph": "#!/bin/sh\necho '  \"shard\": 7,'\n",
	} {
		header := &zip.FileHeader{Name: name}
		header.SetMode(0o755)
		entry, err := z.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(entry, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	p.begin()
	if good, printed, outputs := p.job(w, "plan", nil); !good || outputs["shards"] != "[7]" {
		t.Errorf("with a wheel the job ended with %d and %v:\n%s", p.code, outputs, printed)
	}
}

// fevalgraph runs the program in the project, with a separate home.
func (p *pipelines) fevalgraph(code int, args ...string) string {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(p.bin, "fevalgraph"), args...)
	home := p.t.TempDir()
	cmd.Dir = p.project
	cmd.Env = []string{"PATH=" + p.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + home, "FEVALGRAPH_DIR=" + filepath.Join(home, "state")}
	out, _ := cmd.Output() // its code is compared
	if cmd.ProcessState.ExitCode() != code {
		p.t.Fatalf("fevalgraph %v ended with %d, want %d:\n%s", args, cmd.ProcessState.ExitCode(), code, out)
	}
	return string(out)
}

// results returns the results of the last job.
func (p *pipelines) results() []string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "fevalgraph-ci", "results.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	results, err := report.Decode(strings.NewReader(string(text)))
	if err != nil {
		p.t.Fatal(err)
	}
	return summary(results)
}

func (p *pipelines) edit(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.project, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// The recipe of the quickstart, in two pipelines on machines with nothing but what it caches.
func ciRecipe(t *testing.T, p *pipelines) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "quickstart.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	var steps []struct {
		Run, If string
		With    struct{ Path string }
	}
	if err := yaml.Unmarshal([]byte(text), &steps); !found || err != nil {
		t.Fatalf("quickstart: recipe not found (%v)", err)
	}
	pipeline := func() (printed string) {
		p.dir, p.home = t.TempDir(), t.TempDir()
		p.copy(p.project, p.dir)
		good, cached := true, ""
		for _, step := range steps {
			if step.Run == "" {
				cached = step.With.Path
				p.copy(filepath.Join(p.cache, cached), filepath.Join(p.dir, cached))
				continue
			}
			if !good && step.If != "always()" {
				continue
			}
			cmd := exec.Command("sh", "-c", step.Run)
			cmd.Dir = p.dir
			cmd.Env = []string{"PATH=" + p.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + p.home}
			out, err := cmd.CombinedOutput()
			good = good && err == nil
			printed += string(out)
		}
		p.copy(filepath.Join(p.dir, cached), filepath.Join(p.cache, cached))
		return printed
	}
	served := regexp.MustCompile(`\nran 0, cached [1-9]`)
	if first := pipeline(); served.MatchString(first) {
		t.Errorf("the first pipeline printed\n%s", first)
	}
	if second := pipeline(); !served.MatchString(second) {
		t.Errorf("the second pipeline printed\n%s", second)
	}
}

// Runs the pipeline of a change job by job: shards that share only artifacts and the cache produce the results of one
// machine, and later pipelines run stale nodes.
func ciEvaluates(t *testing.T, p *pipelines) {
	shards, printed := p.evaluate()
	if len(shards) != 4 || p.code != 1 { // a solution fails
		t.Fatalf("the first pipeline had the shards %v, and ended with %d\n%s", shards, p.code, printed)
	}
	whole := t.TempDir()
	alone := workflow{Env: map[string]string{"FG_RESULTS": whole}, Jobs: map[string]workflowJob{"batch": {Steps: []workflowStep{
		{Uses: "actions/checkout"}, {Uses: "./ci", With: map[string]string{"steps": "batch report"}}}}}}
	merged := p.results()
	if good, printed, _ := p.job(alone, "batch", nil); !good {
		t.Fatalf("on one machine:\n%s", printed)
	}
	if want := p.results(); !slices.Equal(merged, want) || len(want) != 6 {
		t.Errorf("merged, the results are\n%s\nwant\n%s", strings.Join(merged, "\n"), strings.Join(want, "\n"))
	}

	p.failOn = "lost,broken" // failures that main has, too, are allowed
	if shards, printed := p.evaluate(); p.code != 0 || len(shards) != 0 || !slices.Equal(p.results(), merged) || strings.Contains(printed, "did not report") {
		t.Errorf("with nothing changed the shards are %v\n%s", shards, printed)
	}
	p.edit("problems/sum/test_one.py", "# fake: test_put kv.py~def.put\n# fake: test_list kv.py~def.list\n")
	if shards, printed := p.evaluate(); len(shards) != 2 || p.code != 1 || !strings.Contains(printed, ": 1 lost, ") {
		t.Errorf("with the tests of one problem changed the shards are %v, and merge ended with %d\n%s", shards, p.code, printed)
	}
	division, err := os.ReadFile(filepath.Join(p.artifacts, "plan", "shards.json"))
	if err != nil || strings.Contains(string(division), "kv/") || strings.Count(string(division), "sum/") != 2 {
		t.Errorf("the shards are\n%s%v", division, err)
	}
	comment, err := os.ReadFile(filepath.Join(p.dir, "fevalgraph-ci", "comment.md"))
	if err != nil || !strings.HasPrefix(string(comment), "<!-- fevalgraph results -->\n") || len(comment) >= 60_000 || !strings.Contains(string(comment), "sum") {
		t.Errorf("the comment is\n%s%v", comment, err)
	}
}

// A shard whose pack does not arrive is named, and the next pipeline makes up for it.
func ciShardLost(t *testing.T, p *pipelines) {
	p.lost, p.failOn = "shard-2", "lost"
	_, printed := p.evaluate()
	if p.code != 3 || !strings.Contains(printed, "shard 2 did not report") || strings.Contains(printed, "shard 1 did not report") {
		t.Errorf("merge ended with %d\n%s", p.code, printed)
	}
	if !slices.ContainsFunc(p.results(), func(line string) bool {
		return strings.Contains(line, " broken (") && strings.Contains(line, "shard 2 did not report")
	}) {
		t.Errorf("the results are\n%s", strings.Join(p.results(), "\n"))
	}
	p.lost = ""
	if shards, printed := p.evaluate(); len(shards) != 1 || strings.Contains(printed, "did not report") {
		t.Errorf("the next pipeline had the shards %v\n%s", shards, printed)
	}
}

// With a secret, files that another key signed do not count. Without one, they count.
func ciKey(t *testing.T, p *pipelines) {
	p.values["secrets.STORE_KEY"] = strings.Repeat("k", 40)
	p.evaluate()
	if shards, _ := p.evaluate(); len(shards) != 0 {
		t.Errorf("with the same key the shards are %v", shards)
	}
	p.values["secrets.STORE_KEY"] = strings.Repeat("o", 40)
	if shards, _ := p.evaluate(); len(shards) != 4 {
		t.Errorf("with another key the shards are %v", shards)
	}
	p.values["secrets.STORE_KEY"] = "" // as in a pull request from a fork
	if shards, _ := p.evaluate(); len(shards) != 0 {
		t.Errorf("without a key the shards are %v", shards)
	}
	kept := filepath.Join(p.cache, "fevalgraph-ci", "kept", "store.pack")
	if err := os.WriteFile(kept, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if shards, _ := p.evaluate(); len(shards) != 4 {
		t.Errorf("with a damaged file the shards are %v", shards)
	}
}

// A comment is created once and then updated; comments of others stay.
func ciComment(t *testing.T, p *pipelines) {
	p.values["github.event.number"] = "7"
	gh := "#!/bin/sh\ncase $* in *--jq*) cat " + p.cache + "/comments; exit;; esac\necho \"$*\" >>" + p.cache + "/asked\n"
	if err := os.WriteFile(filepath.Join(p.bin, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	asked := func(comments string) string {
		if err := os.WriteFile(filepath.Join(p.cache, "comments"), []byte(comments), 0o644); err != nil {
			t.Fatal(err)
		}
		p.evaluate()
		text, err := os.ReadFile(filepath.Join(p.cache, "asked"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), p.dir, "DIR")
	}
	if got, want := asked(""), "api --method POST repos/some/project/issues/7/comments --field body=@DIR/fevalgraph-ci/comment.md\n"; got != want {
		t.Errorf("requests to GitHub\n%s\nwant\n%s", got, want)
	}
	if got, want := asked("123\n456\n"), "api --method PATCH repos/some/project/issues/comments/123 --field body=@DIR/fevalgraph-ci/comment.md\n"; !strings.HasSuffix(got, want) {
		t.Errorf("requests to GitHub\n%s\nwant at the end\n%s", got, want)
	}
}

// Correct references, and one whose tests fail; the next pipeline judges only changes.
func ciValidates(t *testing.T, p *pipelines) {
	w := readWorkflow(t, "validate.yml")
	p.values["github.event.number"] = "7"
	gh := "#!/bin/sh\ncase $* in *--jq*) echo \"$*\" >>" + p.cache + "/asked; exit;; esac\necho \"$*\" >>" + p.cache + "/asked\n"
	if err := os.WriteFile(filepath.Join(p.bin, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	judge := func(good bool, want string) string {
		t.Helper()
		p.begin()
		if succeeded, printed, _ := p.job(w, "references", nil); succeeded != good || !strings.Contains(printed, want) {
			t.Errorf("succeeded: %t\n%s", succeeded, printed)
		}
		comment, err := os.ReadFile(filepath.Join(p.dir, "fevalgraph-ci", "comment.md"))
		if err != nil {
			t.Fatal(err)
		}
		if succeeded, printed, _ := p.job(w, "comment", nil); !succeeded {
			t.Errorf("the comment failed:\n%s", printed)
		}
		return string(comment)
	}
	if comment := judge(true, "2 of 2 references have the expected result in each of 5 repeats; 0 flaky"); !strings.Contains(comment, "### kv\n") || !strings.Contains(comment, "### sum\n") {
		t.Errorf("the first comment is\n%s", comment)
	}
	p.edit("problems/sum/test_one.py", "# fake: test_put failed\n")
	comment := judge(false, "sum: its reference must pass every checkpoint, but does not")
	if strings.Contains(comment, "### kv\n") || !strings.Contains(comment, "1 of 2 as expected, 1 unexpected") || !strings.Contains(comment, "1 problem as before") {
		t.Errorf("the second comment is\n%s", comment)
	}
	asked, err := os.ReadFile(filepath.Join(p.cache, "asked"))
	if err != nil || !strings.Contains(string(asked), `startswith("<!-- fevalgraph references -->")`) || !strings.Contains(string(asked), "--method POST repos/some/project/issues/7/comments") {
		t.Errorf("requests to GitHub\n%s%v", asked, err)
	}
}

// A batch commits changed results, and makes no commit without changes.
func ciBatch(t *testing.T, p *pipelines) {
	w := readWorkflow(t, "weekly.yml")
	p.clone = filepath.Join(t.TempDir(), "results.git")
	p.git("", "init", "--quiet", "--bare", p.clone)
	p.values["vars.RESULTS_REPOSITORY"], p.values["secrets.RESULTS_DEPLOY_KEY"] = "some/results", ""
	batch := func() string {
		t.Helper()
		p.begin()
		for _, name := range []string{"batch", "publish"} {
			if good, printed, _ := p.job(w, name, nil); !good {
				t.Fatalf("%s failed:\n%s", name, printed)
			}
		}
		return p.git(p.clone, "rev-list", "--count", "--all")
	}
	if n := batch(); n != "1" {
		t.Errorf("%s commits after the first batch", n)
	}
	if file := p.git(p.clone, "show", "HEAD:weekly.csv"); !strings.Contains(file, "sum,good,") || !strings.Contains(file, "sum,late,local.host,1,one,skipped,false,strict-core-cases,never judged,") {
		t.Errorf("published is\n%s", file)
	}
	if n := batch(); n != "1" {
		t.Errorf("%s commits after a batch without changes", n)
	}
	p.edit("solutions/good/kv.py", "def put(): pass\n")
	if n := batch(); n != "2" {
		t.Errorf("%s commits after a solution became worse", n)
	}

	// Exports of a batch are not in a repository that git would use.
	planted := filepath.Join(p.artifacts, "results", ".git", "hooks", "pre-commit")
	err := os.MkdirAll(filepath.Dir(planted), 0o755)
	if err == nil {
		err = os.WriteFile(planted, []byte("#!/bin/sh\ntouch "+filepath.Join(p.cache, "ran")+"\n"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(p.artifacts, "results", "more.csv"), nil, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if good, printed, _ := p.job(w, "publish", nil); !good || p.git(p.clone, "rev-list", "--count", "--all") != "3" {
		t.Errorf("published: %t\n%s", good, printed)
	}
	if _, err := os.Stat(filepath.Join(p.cache, "ran")); err == nil {
		t.Error("publish ran a file of the batch")
	}
}

// GitLab's child pipeline has a job for each shard, and no job evaluate without shards.
func ciChild(t *testing.T, p *pipelines) {
	child := workflow{Jobs: map[string]workflowJob{"plan": {Steps: []workflowStep{
		{Uses: "actions/checkout"}, {Uses: "./ci", With: map[string]string{"steps": "plan child"}}}}}}
	jobs := func() map[string]any {
		t.Helper()
		good, printed, _ := p.job(child, "plan", nil)
		var jobs map[string]any
		if _, text, ok := strings.Cut(printed, "# The child"); !good || !ok || yaml.Unmarshal([]byte("#"+text), &jobs) != nil {
			t.Fatalf("succeeded: %t\n%s", good, printed)
		}
		return jobs
	}
	found, ok := jobs()["evaluate"].(map[string]any)
	if got, err := yaml.Marshal(found["parallel"]); !ok || err != nil || string(got) != "matrix:\n    - FG_SHARD:\n        - 1\n        - 2\n        - 3\n        - 4\n" {
		t.Errorf("the jobs run in parallel by\n%s%v", got, err)
	}
	p.edit("fevalgraph.hcl", "variable \"results\" { default = \".\" }\n")
	if jobs := jobs(); jobs["evaluate"] != nil || jobs["merge"] == nil {
		t.Errorf("without a shard the jobs are %v", jobs)
	}
}
