//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/gen/modeltest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// labKey is the API key of these tests.
const labKey = "sk-lab-0123456789abcdef"

// generating is a project with a generator of a server.
type generating struct {
	*checkout
	model *modeltest.Server
	url   string
}

func newGenerating(t *testing.T, attempts int, model *modeltest.Server) *generating {
	t.Helper()
	g := &generating{copyCheckout(t, filepath.Join("testdata", "project"), t.TempDir()), model, ""}
	g.url = serve(t, model)
	g.env = append(g.env, "LAB_KEY="+labKey, "OTHER_KEY=sk-other-0123456789abcdef")
	g.append("fevalgraph.hcl", fmt.Sprintf(`
secret "lab" { env = "LAB_KEY" }
generator "small" {
  endpoint = "%s/v1"
  model    = "small"
  keys     = [secret.lab]
  problems = problem.kv
  attempts = %d
  prompt   = "attempt ${self.attempt} at ${self.checkpoint}: ${self.code}"
  retry {
    attempts = 3
    wait     = "1ms"
  }
}
`, g.url, attempts))
	return g
}

func serve(t *testing.T, model *modeltest.Server) string {
	server := httptest.NewServer(model)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// exits runs a command that must exit with a code, and returns its output.
func (g *generating) exits(code int, args ...string) string {
	g.t.Helper()
	cmd := g.command(args...)
	err := cmd.Run()
	got := cmd.ProcessState.ExitCode()
	if got != code {
		g.t.Fatalf("fevalgraph %s: %v, want %d\n%s", strings.Join(args, " "), err, code, output(cmd))
	}
	return output(cmd)
}

func (g *generating) edit(from, to string) {
	g.t.Helper()
	path := filepath.Join(g.dir, "fevalgraph.hcl")
	content, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(content, []byte(from)) {
		err = fmt.Errorf("there is no %s", from)
	}
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(content, []byte(from), []byte(to)), 0o644)
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

// gen sends no key of a project before the user has confirmed the key and its endpoint, and only this pair.
func TestGenerateTrust(t *testing.T) {
	t.Parallel()
	g := newGenerating(t, 1, &modeltest.Server{})
	other := &modeltest.Server{}
	otherURL := serve(t, other)
	silent := func(want string) {
		t.Helper()
		before := len(g.model.Requests())
		if said := g.exits(2, "gen"); !strings.Contains(said, want) || !strings.Contains(said, "run `fevalgraph trust`") {
			t.Errorf("printed %s, want %s", said, want)
		}
		if n := len(g.model.Requests()) + len(other.Requests()); n > before {
			t.Errorf("%d requests were sent", n-before)
		}
	}
	asks := "generator.small: send the environment variable LAB_KEY to " + g.url + "/v1"
	silent(asks)
	g.exits(0, "gen", "-n")
	g.run("run") // running a project trusts it with much, but not with that
	silent(asks)
	if said := output(g.run("trust")); !strings.Contains(said, "; gen can\n  "+asks) {
		t.Error(said)
	}
	g.exits(0, "gen")
	if n := g.model.Answered(); n != 2 {
		t.Errorf("%d answers", n)
	}
	g.edit(g.url, otherURL)
	silent("LAB_KEY to " + otherURL)
	g.edit(otherURL, g.url)
	g.edit(`"LAB_KEY"`, `"OTHER_KEY"`)
	g.edit(`model    = "small"`, `model    = "large"`) // so that there is a prompt to send
	silent("OTHER_KEY to " + g.url)
	g.edit(`"OTHER_KEY"`, `"LAB_KEY"`)
	g.exits(0, "gen") // the model is the user's own affair
	g.run("trust", "--revoke")
	g.exits(0, "gen") // no prompt to send
	g.edit(`model    = "large"`, `model    = "huge"`)
	silent(asks)
	g.exits(0, "gen", "--trust")
	g.edit(`model    = "huge"`, `model    = "last"`)
	silent(asks)
}

// No file or output contains a key, whatever the endpoint responds.
func TestGenerateShowsNoKey(t *testing.T) {
	t.Parallel()
	g := newGenerating(t, 1, &modeltest.Server{Answer: func(r modeltest.Request) string {
		return "Your key is " + r.Key + "\n```kv.py\n" + r.Key + "\n```\n"
	}})
	g.env = append(g.env, "FEVALGRAPH_DEBUG=1")
	said := output(g.run("trust")) + output(g.run("gen", "--json", "-v"))
	g.model.Refuse = map[string]int{labKey: 401}
	said += g.exits(2, "gen", "--again", "-v") + g.exits(2, "gen", "--again", "--json")
	if !strings.Contains(said, "the API key of secret.lab is set aside: 401 Unauthorized: Incorrect API key provided: ***") {
		t.Error(said)
	}
	if strings.Contains(said, labKey) {
		t.Errorf("a key is shown: %s", said)
	}
	for _, dir := range []string{g.dir, g.place} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if bytes.Contains(content, []byte(labKey)) {
				t.Errorf("%s has the key", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Evaluation needs no key, and gen names the missing key.
func TestGenerateWithoutKey(t *testing.T) {
	t.Parallel()
	g := newGenerating(t, 1, &modeltest.Server{})
	g.run("trust")
	for i, variable := range g.env {
		if strings.HasPrefix(variable, "LAB_KEY=") {
			g.env[i] = "NO_KEY="
		}
	}
	if said := output(g.run("run")); strings.Contains(said, "LAB_KEY") {
		t.Error(said)
	}
	g.run("validate")
	if said := g.exits(2, "gen"); !strings.Contains(said, "generator.small needs secret.lab: the environment variable LAB_KEY is not set") {
		t.Error(said)
	}
	g.exits(0, "gen", "-n")
}

// Prompts that were answered before a kill or an interruption are not sent again.
func TestGenerateKilled(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			const attempts, answers = 30, 11
			var mu sync.Mutex
			answered, hang := 0, true
			g := newGenerating(t, attempts, &modeltest.Server{Fault: func(int, modeltest.Request) modeltest.Fault {
				mu.Lock()
				defer mu.Unlock()
				if hang && answered == answers {
					return modeltest.Hang
				}
				answered++
				return modeltest.None
			}})
			g.run("trust")
			cmd := g.command("gen")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "all that was answered is kept", func() bool {
				var plan struct{ Answered int }
				out := g.run("gen", "-n", "--json").Stdout.(*bytes.Buffer)
				if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
					t.Fatal(err)
				}
				return plan.Answered == answers
			})
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			var exit *exec.ExitError
			if signal == syscall.SIGINT && (!errors.As(err, &exit) || exit.ExitCode() != 130 || !strings.Contains(output(cmd), "received answers are kept")) {
				t.Fatalf("ended with %v\n%s", err, output(cmd))
			}
			mu.Lock()
			hang = false
			mu.Unlock()
			g.run("gen")
			times := map[string]int{}
			for _, r := range g.model.Requests() {
				if r.Fault == modeltest.None {
					times[r.Prompt]++
				}
			}
			for prompt, n := range times {
				if n > 1 {
					t.Errorf("%q was answered %d times", prompt, n)
				}
			}
			if len(times) != 2*attempts {
				t.Errorf("%d prompts were answered, want %d", len(times), 2*attempts)
			}
			if records, err := filepath.Glob(filepath.Join(g.dir, "generated/small/kv/*/two/kv.py")); len(records) != attempts {
				t.Errorf("%d solutions, %v", len(records), err)
			}
		})
	}
}

// A cost limit ends a call with the answers that it paid for, and the next call continues.
func TestGenerateMaxCost(t *testing.T) {
	t.Parallel()
	g := newGenerating(t, 10, &modeltest.Server{})
	g.run("trust")
	g.edit(`model    = "small"`, "model    = \"small\"\n  parameters = { max_tokens = 4 }\n  limits { concurrency = 1 }\n  price {\n    input  = 1\n    output = 1000\n  }")
	said := g.exits(3, "gen", "--max-cost", "0.05")
	if n := g.model.Answered(); n == 0 || n > 12 || !strings.Contains(said, "not requested: $0.0") || !strings.Contains(said, "$0.0500") {
		t.Errorf("%d answers: %s", n, said)
	}
	if said := output(g.run("gen")); !strings.Contains(said, "small      ") || g.model.Answered() != 20 {
		t.Errorf("%d answers: %s", g.model.Answered(), said)
	}
}

// Two concurrent calls send each prompt once.
func TestGenerateTwice(t *testing.T) {
	t.Parallel()
	g := newGenerating(t, 20, &modeltest.Server{})
	g.run("trust")
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			cmd := g.command("gen")
			if err := cmd.Run(); err != nil {
				t.Errorf("%v\n%s", err, output(cmd))
			}
		})
	}
	calls.Wait()
	if n := len(g.model.Requests()); n != 40 {
		t.Errorf("%d requests", n)
	}
}
