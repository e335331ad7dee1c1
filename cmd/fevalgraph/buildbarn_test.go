//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// farm is a checkout whose backends are workers of a real Buildbarn and this machine.
type farm struct {
	*checkout
}

// newFarm copies a project. Actions run as another user, who can read what is needed.
func newFarm(t *testing.T, project string, backends string) *farm {
	t.Helper()
	endpoint := os.Getenv("FEVALGRAPH_TEST_BUILDBARN")
	if endpoint == "" {
		if os.Getenv(realVariable) != "" {
			t.Fatal("FEVALGRAPH_TEST_BUILDBARN is not set")
		}
		t.Skip("needs a Buildbarn: make buildbarn")
	}
	c := copyCheckout(t, project, t.TempDir())
	if backends != "" {
		if err := os.WriteFile(filepath.Join(c.dir, "farm.feval.hcl"), []byte(backends), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, path, _ := strings.Cut(os.Getenv("PATH"), ":") // without the stand-ins: workers have the real programs, too
	c.env = append(c.env, "PATH="+path, "FEVALGRAPH_ISOLATION=", "FEVALGRAPH_VAR_endpoint=grpc://"+endpoint, "FEVALGRAPH_VAR_state="+os.Getenv("FEVALGRAPH_TEST_BUILDBARN_STATE"),
		"FEVALGRAPH_VAR_path="+path, "FEVALGRAPH_VAR_go_judge="+os.Getenv(judgeVariable))
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "UV_DEFAULT_INDEX", "UV_INDEX_URL"} {
		if value, ok := os.LookupEnv(name); ok {
			c.env = append(c.env, name+"="+value)
		}
	}
	return &farm{c}
}

// verdicts returns the verdicts of each backend, without paths and times.
func (c *farm) verdicts() map[string]string {
	c.t.Helper()
	cmd := c.command("results", "--format", "json")
	if err := cmd.Run(); err != nil {
		c.t.Fatalf("%v\n%s", err, output(cmd))
	}
	var results struct{ Cells []map[string]any }
	if err := json.Unmarshal(cmd.Stdout.(*bytes.Buffer).Bytes(), &results); err != nil {
		c.t.Fatal(err)
	}
	all := map[string]string{}
	for _, cell := range results.Cells {
		where, _ := cell["backend"].(string)
		encoded, err := json.MarshalIndent(placeless(timeless(cell)), "", " ")
		if err != nil {
			c.t.Fatal(err)
		}
		all[where] += workspaces.ReplaceAllString(string(encoded), "WORKSPACE") + "\n"
	}
	return all
}

// workspaces matches paths, and addresses of objects, in output of tests.
var workspaces = regexp.MustCompile(`/[^\s'"]*/fevalgraph-\d+/[a-z0-9]{10}|\b0x[0-9a-f]{8,}`)

// sameEverywhere compares each backend's verdicts with those of this machine.
func (c *farm) sameEverywhere(here string, there ...string) {
	c.t.Helper()
	all := c.verdicts()
	if all[here] == "" || strings.Contains(all[here], `"broken"`) {
		c.t.Errorf("%s judged %s", here, all[here])
	}
	for _, where := range there {
		if diff := cmp.Diff(all[here], all[where]); diff != "" {
			c.t.Errorf("%s judges otherwise (-%s +%s):\n%s", where, here, where, diff)
		}
	}
}

// again runs again, and must execute nothing.
func (c *farm) again(what string) {
	c.t.Helper()
	c.mayFail("run")
	if r := c.lastRun(); r.end.Executed > 0 {
		c.t.Errorf("%s executed %v", what, r.executed)
	}
}

// elsewhere returns the same project in another directory.
func (c *farm) elsewhere() *farm {
	c.t.Helper()
	other := &farm{&checkout{t: c.t, dir: c.t.TempDir(), place: c.place, env: c.env}}
	if err := copyProject(c.dir, other.dir); err != nil {
		c.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(other.dir, ".fevalgraph")); err != nil {
		c.t.Fatal(err)
	}
	return other
}

// share has runs put their results on the engine's server, signed, and take them from there.
func (c *farm) share() {
	c.t.Helper()
	key := filepath.Join(c.place, "key")
	public := strings.TrimSpace(c.run("keygen", "-o", key, "--name", "ci").Stdout.(*bytes.Buffer).String())
	text := fmt.Sprintf(`
fevalgraph {
  cache {
    remote "farm" {
      url   = "grpc://%s"
      trust = [%q]
    }
  }
}
`, os.Getenv("FEVALGRAPH_TEST_BUILDBARN"), public)
	if err := os.WriteFile(filepath.Join(c.dir, "share.feval.hcl"), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.env = append(c.env, "FEVALGRAPH_SIGNING_KEY="+key)
}

// once holds what ran to have run for everybody: a second run executes nothing, nor does one
// in another checkout, nor one on another machine that shares the results on the same server.
func (c *farm) once(here string, there ...string) {
	c.t.Helper()
	c.again("a second run")
	other := c.elsewhere()
	other.again("another checkout")
	other.place = c.t.TempDir()
	for _, dir := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(other.place, dir), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
	third := other.elsewhere()
	third.again("another machine")
	third.sameEverywhere(here, there...)
}

// Programs with every kind of end and leftover get the same verdicts on two workers of different platforms as here.
func TestBuildbarnCommands(t *testing.T) {
	c := newFarm(t, filepath.Join("testdata", "remote"), "")
	c.share()
	c.mayFail("run", "-j", "4")
	c.sameEverywhere("local.here", "remote.a", "remote.b")
	for _, complaint := range []string{"another", "older", "elsewhere", "others"} {
		if strings.Contains(c.mayFail("results", "--format", "json"), "is "+complaint) {
			t.Errorf("a command did not find earlier files: %s", complaint)
		}
	}
	c.once("local.here", "remote.a", "remote.b")
}

const pytestFarm = `
variable "endpoint" {}
variable "state" {}
variable "path" {}
variable "go_judge" {}

backend "local" "here" {}

backend "remote" "a" {
  endpoint    = var.endpoint
  platform    = { OSFamily = "linux", pool = "a" }
  path        = var.path
  passthrough = ["SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "UV_DEFAULT_INDEX", "UV_INDEX_URL"]
}
`

// The quickstart's tests run in environments that a worker made.
func TestBuildbarnQuickstart(t *testing.T) {
	c := newFarm(t, filepath.Join("..", "..", "examples", "quickstart"), pytestFarm)
	c.share()
	c.mayFail("run", "-j", "4")
	c.sameEverywhere("local.here", "remote.a")
	c.once("local.here", "remote.a")
	c.run("trust")
	said := c.command("doctor")
	_ = said.Run() // other things can be missing
	if !regexp.MustCompile(`ok +remote\.a +grpc://.*, API 2\..*, platform linux/`).MatchString(output(said)) {
		t.Errorf("doctor prints %s", output(said))
	}
}

// A checkout of SlopCodeBench's form is judged by actions as it is here: requirements of
// submissions, assets, earlier checkpoints' tests, and regressions.
func TestBuildbarnSlopCodeBench(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "examples", "testdata", "checkout.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	archive.Files = append(archive.Files, txtar.File{Name: "fevalgraph.hcl", Data: []byte(slopcodebenchFarm)})
	for _, f := range archive.Files {
		name := filepath.Join(project, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := newFarm(t, project, pytestFarm)
	c.share()
	c.mayFail("run", "-j", "4")
	c.sameEverywhere("local.here", "remote.a")
	c.once("local.here", "remote.a")
}

const slopcodebenchFarm = `
problem "scbench" {
  for_each = { for c in fileset("problems", "*/config.yaml") : dirname(c) => "problems/${dirname(c)}" }
  slopcodebench { path = each.value }
}

solution "scbench" {
  for_each = problem.scbench
  problem  = each.value
  slopcodebench {}
}
`

// Tasks are actions, too.
func TestBuildbarnTasks(t *testing.T) {
	c := newFarm(t, filepath.Join("testdata", "tasks"), strings.Replace(pytestFarm, `backend "local" "here" {}`, `locals { there = backend.remote.a }`, 1))
	c.share()
	tasksAgree(t, c.dir, c.command)
	c.sameEverywhere("local.here", "remote.a")
	c.once("local.here", "remote.a")
}

const judgeFarm = `
variable "state" {}
variable "path" {}
variable "go_judge" {}

backend "remote" "a" {
  endpoint = var.farm
  platform = { OSFamily = "linux", pool = "a" }
  go_judge = var.go_judge
}

variable "farm" {}
`

// Solutions are judged case by case in actions that bring go-judge along.
func TestBuildbarnJudge(t *testing.T) {
	c := newFarm(t, filepath.Join("..", "..", "examples", "judge"), judgeFarm)
	judge := os.Getenv(judgeVariable)
	if judge == "" {
		t.Fatalf("%s is not set", judgeVariable)
	}
	for i, v := range c.env { // the example's default endpoint is go-judge's
		if address, ok := strings.CutPrefix(v, "FEVALGRAPH_VAR_endpoint="); ok {
			c.env[i] = "FEVALGRAPH_VAR_farm=" + address
		}
	}
	c.env = append(c.env, "PATH="+filepath.Dir(judge)+":/usr/local/bin:/usr/bin:/bin")
	c.share()
	c.mayFail("run", "-j", "4")
	c.sameEverywhere("gojudge.box", "remote.a")
	c.once("gojudge.box", "remote.a")
}
