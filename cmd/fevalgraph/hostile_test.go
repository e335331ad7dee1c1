//go:build unix

package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/cli"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// hostileProject names programs and servers in every attribute that can. MARK stands for a program that leaves a file,
// and PORT for a server that counts.
const hostileProject = `
backend "local" "host" {
  versions = ["MARK versions"]
}
backend "local" "python" {
  python = "MARK"
  env    = { PATH = "BIN:/usr/bin:/bin" }
}
backend "gojudge" "box" {
  binary   = "MARK"
  versions = ["MARK gojudge"]
}
backend "gojudge" "there" { endpoint = "http://127.0.0.1:PORT" }
backend "lightcp" "server" { endpoint = "http://127.0.0.1:PORT" }
backend "remote" "farm" { endpoint = "grpc://127.0.0.1:PORT" }
backend "skypilot" "sky" {
  api   = "http://127.0.0.1:PORT"
  infra = "slurm/c"
}
fevalgraph {
  cache {
    remote "team" {
      url   = "http://127.0.0.1:PORT"
      trust = ["ed25519:d2MYjWPWw6Zan0PZeaa+fE8dcxXNCthf5Boyv9w1Q1E= main"]
    }
  }
}
generator "models" {
  command  = ["MARK", "generator"]
  model    = "m"
  problems = problem.kv
}
task "made" {
  setup = ["MARK setup"]
  run     = "MARK task"
  backend = backend.local.host
  output "out" { path = "out" }
}
problem "graded" {
  command {
    root     = "tests"
    solution = "solution.py"
    argv     = ["MARK", "grader"]
  }
  asset "data" { source = task.made.outputs.out }
}
solution "graded" {
  problem = problem.graded
  source  = "solutions/good/one/kv.py"
}
`

// callsOf maps the name of each command with a rule to its calls.
var callsOf = map[string][]string{
	"": {""}, "run": {"run"}, "eval": {"eval kv solutions/good/one"}, "lock": {"lock"}, "shell": {"shell kv/one/good@local.host -- true"},
	"watch": {"watch"}, "cache audit": {"cache audit"}, "validate --reference": {"validate --reference"},
	"merge": {"merge", "merge .", "merge them.pack"}, "cache pull": {"cache pull"}, "cache push": {"cache push", "cache push --cache local:rw,team:rw"},
	"cache pack": {"cache pack -o OUT/a.pack", "cache pack --run latest -o OUT/b.pack"}, "gen": {"gen", "gen --dry-run", "gen --explain"},
	"plan": {"plan", "plan --check", "plan --json", "plan --shards 2"}, "status": {"status", "status --json"}, "explain": {"explain pytest:kv/one/good@local.host", "explain pytest:kv/one/good@local.host --run latest"},
	"results": {"results", "results --run latest", "results --format junit", "results verdict=passed"}, "compare": {"compare solution", "compare backend"},
	"diff": {"diff", "diff latest now", "diff kv/good kv/late"}, "report": {"report -o OUT/report.html", "report latest -o OUT/latest.html"},
	"graph": {"graph", "graph --fold cell --dot"}, "query": {"query", "query rdeps(file:tests) --files", "query state=stale"}, "find": {"find pytest", "find tests/test_one.py"}, "release": {"release . .", "release . . --json --check"}, "get": {"get submission:kv/one/good -o OUT/got", "get submission:kv/one/good --run latest -o OUT/past"}, "list": {"list", "list cells"}, "show": {"show problem.kv", "show pytest:kv/one/good@local.host"}, "lsp": {"lsp"}, "mcp": {"mcp"},
	"doctor": {"doctor", "doctor --containers"}, "clean": {"clean", "clean --containers", "clean --clusters"}, "bundle": {"bundle -o OUT/bundle"}, "log": {"log pytest:kv/one/good@local.host"},
	"cache stats": {"cache stats"}, "cache gc": {"cache gc --max-size 1MiB"}, "cache verify": {"cache verify"}, "cache sign": {"cache sign"}, "cache unpack": {"cache unpack them.pack"},
	"runs": {"runs"}, "runs prune": {"runs prune --keep 1"}, "verify": {"verify them.pack"}, "console": {"console"}, "variables": {"variables"}, "schema": {"schema"},
	"fmt": {"fmt --check"}, "init": {"init OUT/new"}, "trust": {"trust --list", "trust --revoke"}, "keygen": {"keygen -o OUT/key"}, "completion": {"completion bash"},
	"validate": {"validate"}, "version": {"version"},
}

// TestHostileProject tests that an untrusted project, with the state directory of its author's runs, is inert: commands
// do no more than their rules state. With real programs, commands are traced.
func TestHostileProject(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := copyCheckout(t, filepath.Join("testdata", "project"), t.TempDir())
	theirs := func() {
		c.env = []string{"HOME=" + filepath.Join(c.place, "theirs"), "FEVALGRAPH_CACHE_DIR=" + filepath.Join(c.place, "their-store")}
	}
	theirs()
	c.run("run")
	c.run("cache", "pack", "--run", "latest", "-o", "them.pack")
	bin, marks, out := filepath.Join(c.place, "bin"), filepath.Join(c.place, "marks"), filepath.Join(c.place, "out")
	for _, dir := range []string{bin, marks, out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\ntouch " + marks + "/${0##*/}-${1##*/}\nmkdir -p out\n"
	for _, name := range []string{"mark", "uv", "uvx", "python3", "python", "docker", "sky", "go-judge", "ssh"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var contacts atomic.Int64
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			contacts.Add(1)
			conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	c.append("fevalgraph.hcl", strings.NewReplacer("MARK", filepath.Join(bin, "mark"), "BIN", bin, "PORT", port).Replace(hostileProject))
	theirRun := func(args ...string) string { // how it ends does not matter
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := c.command(args...)
		run := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
		run.Dir, run.Env = cmd.Dir, cmd.Env
		said, _ := run.CombinedOutput()
		return string(said)
	}
	said := theirRun("plan", "--trust")
	if _, err := os.Stat(filepath.Join(marks, "mark-versions")); err != nil {
		t.Fatalf("the project's programs leave no marks: %v\n%s", err, said)
	}
	good := filepath.Join(c.place, "good")
	if err := os.CopyFS(good, os.DirFS(c.dir)); err != nil {
		t.Fatal(err)
	}

	c.env = nil
	for name, rule := range cli.Rules {
		calls, ok := callsOf[name]
		if !ok {
			t.Errorf("no call of %q is tested", name)
		}
		if rule.Executes == cli.ReachProject {
			continue
		}
		for _, call := range calls {
			t.Run(call, func(t *testing.T) {
				for _, dir := range []string{marks, out, filepath.Join(c.place, "store"), filepath.Join(c.place, "home"), c.dir} {
					if err := os.RemoveAll(dir); err != nil {
						t.Fatal(err)
					}
				}
				for _, dir := range []string{marks, out, filepath.Join(c.place, "home")} {
					if err := os.Mkdir(dir, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.CopyFS(c.dir, os.DirFS(good)); err != nil {
					t.Fatal(err)
				}
				contacts.Store(0)
				before := filesIn(t, c.dir)
				cmd := c.command(strings.Fields(strings.ReplaceAll(call, "OUT", out))...)
				var file string
				if os.Getenv(realVariable) != "" {
					file = withStrace(t, cmd)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
				_ = cmd.Wait()
				if !ended.Stop() {
					t.Errorf("goes on for minutes: %s", output(cmd))
				}
				if file != "" {
					asked := readSystemCalls(t, file)
					allowed := []string{"/dev", "/proc", filepath.Join(c.place, "home"), filepath.Join(c.place, "store"), out}
					switch rule.Writes {
					case cli.WritesState:
						allowed = append(allowed, filepath.Join(c.dir, ".fevalgraph"))
					case cli.WritesProject:
						allowed = append(allowed, c.dir)
					case cli.WritesTemp:
						allowed = append(allowed, filepath.Join(c.place, "tmp"))
					}
					if rule.Executes == cli.ReachNothing && len(asked.executed) > 0 {
						t.Errorf("executed %q", asked.executed)
					}
					if len(asked.contacted) > 0 {
						t.Errorf("contacted %q", asked.contacted)
					}
					if wrote := outside(asked.written, allowed...); len(wrote) > 0 {
						t.Errorf("wrote %q", wrote)
					}
				}
				if left, _ := os.ReadDir(marks); len(left) > 0 {
					t.Errorf("executed %v\n%s", left, output(cmd))
				}
				if n := contacts.Load(); n > 0 {
					t.Errorf("contacted a server %d times\n%s", n, output(cmd))
				}
				if trusted, _ := os.ReadDir(filepath.Join(c.place, "home", ".local", "state", "fevalgraph", "trust")); len(trusted) > 0 {
					t.Errorf("trusts the project\n%s", output(cmd))
				}
				if code := cmd.ProcessState.ExitCode(); code == 70 || code < 0 {
					t.Errorf("exit code %d\n%s", code, output(cmd))
				}
				if strings.Contains(fmt.Sprint(cmd.Stdout), "3 passed") && !strings.Contains(call, "--check") {
					t.Errorf("believes forged verdicts\n%s", output(cmd))
				}
				after := filesIn(t, c.dir)
				for path := range after {
					if before[path] != after[path] && !strings.HasPrefix(path, ".fevalgraph") && rule.Writes == cli.WritesNothing {
						t.Errorf("wrote %s", path)
					}
				}
				if where, _ := os.ReadDir(out); len(where) > 0 && !strings.Contains(call, "OUT") {
					t.Errorf("wrote %v", where)
				}
			})
		}
	}
}

// TestForgedState tests that a state directory which another user wrote is not trusted even if nothing else differs:
// neither fresh verdicts nor recorded runs. Its own user can move it.
func TestForgedState(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := copyCheckout(t, filepath.Join("testdata", "project"), t.TempDir())
	c.env = []string{"HOME=" + filepath.Join(c.place, "theirs"), "FEVALGRAPH_CACHE_DIR=" + filepath.Join(c.place, "their-store")}
	c.run("run")
	c.run("plan", "--check")
	c.env = nil // another key, and an empty store
	for _, call := range []string{"plan --check", "status", "results", "results --run latest", "report -o x.html", "diff latest now", "log pytest:kv/one/good@local.host", "compare solution", "bundle"} {
		cmd := c.command(strings.Fields(call)...)
		err := cmd.Run()
		if said := output(cmd); strings.Contains(said, "passed") {
			t.Errorf("%s believes it: %s", call, said)
		} else if n := strings.Count(said, "without your signature, is ignored"); n > 1 || n == 0 && call == "plan --check" {
			t.Errorf("%s reports %d times that state is ignored: %v\n%s", call, n, err, said)
		}
	}
	if said := output(c.run("plan", "--shards", "2", "--json")); !strings.Contains(said, "kv/good") {
		t.Errorf("no cell is left to evaluate: %s", said)
	}
	if said := output(c.run("run")); !strings.Contains(said, "ran 15, cached 0") {
		t.Errorf("the run takes over something: %s", said)
	}
	said := output(c.run("plan", "--check"))
	if strings.Contains(said, "not proven") {
		t.Errorf("the user's own state is not proven: %s", said)
	}
	if said := output(c.run("runs")); strings.Count(said, "3 passed") != 1 {
		t.Errorf("the runs of both are listed: %s", said)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(moved, os.DirFS(c.dir)); err != nil {
		t.Fatal(err)
	}
	c.dir = moved
	if said := output(c.run("results", "--run", "latest")); !strings.Contains(said, "3 passed") {
		t.Errorf("the moved project has lost its runs: %s", said)
	}
	if said := output(c.run("run")); !strings.Contains(said, "ran 0, cached 15") {
		t.Errorf("the moved project executes again: %s", said)
	}
	c.run("plan", "--check")
}

// filesIn returns the size and time of each file below a directory.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			rel, _ := filepath.Rel(dir, path)
			all[rel] = fmt.Sprint(info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
