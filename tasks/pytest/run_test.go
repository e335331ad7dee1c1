package pytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

func TestRun(t *testing.T) {
	s := newBench(t)
	st, outputs := s.execute()
	if st.State != event.Done || st.Message != "" {
		t.Errorf("%s: %s", st.State, st.Message)
	}
	if outputs[OutputExit] != `{"code":0}` || outputs[OutputTiming] != `{"seconds":2}` || outputs[OutputLog] != string(collected(1)) {
		t.Errorf("got %q", outputs)
	}
	if _, ok := outputs[OutputSetup]; ok || outputs[OutputStages] == "" || outputs[OutputReport] == "" || outputs[OutputCTRF] == "" {
		t.Errorf("got %q", outputs)
	}
}

func TestCommands(t *testing.T) {
	s := newBench(t)
	s.run.Args, s.run.Plugins = []string{"-x", "-k a or b"}, []string{"no:cacheprovider"}
	s.run.SessionTimeout = time.Minute
	s.execute()
	calls := s.box.Calls()
	want := [][]string{
		{"uvx", "--isolated", "--no-config", "--offline", "--with=pytest==8.4.2", "--with=pytest-timeout==2.4.0", "pytest", "--version"},
		{"uvx", "--isolated", "--no-config", "--offline", "--with=pytest==8.4.2", "--with=pytest-timeout==2.4.0", "pytest", "tests/", "--entrypoint=python kv.py",
			"--checkpoint=cp", "--ctrf=.scbench/ctrf-report.json", "--json-report", "--json-report-file=.scbench/pytest-report.json",
			"--json-report-omit", "traceback", "streams", "log", "warnings", "-c", "pytest.ini", "--rootdir=.", "--confcutdir=tests", "--timeout=20",
			"-p", "no:cacheprovider", "-p", "fevalgraph_seal", "-p", "fevalgraph_limits", "-vv", "-x", "-k a or b"},
	}
	for i, argv := range want {
		if diff := cmp.Diff(argv, calls[i].Command.Argv); diff != "" {
			t.Errorf("command %d (-want +got):\n%s", i, diff)
		}
	}
	if got := calls[1].Command.Timeout; got != time.Minute {
		t.Errorf("session limit %v", got)
	}
	s.run.Timeout = 0
	if argv := firstCommand(s.run.testCommand(pytestLocation{python: "/usr/bin/python3"}, "", nil)); slices.ContainsFunc(argv, func(a string) bool { return strings.HasPrefix(a, "--timeout") }) || argv[4] != "--python=/usr/bin/python3" {
		t.Errorf("without a limit, with an interpreter: %q", argv)
	}
	if got := seconds(1500 * time.Millisecond); got != "1.5" {
		t.Errorf("1.5 s is %s", got)
	}
}

func TestIni(t *testing.T) {
	r := Run{Directory: "checks", Markers: []Marker{{"slow", "takes\n[long]  and:\tlonger"}, {"functionality", "mine"}, {"bare", ""}}}
	const want = `[pytest]
testpaths = checks
markers =
    error: error-handling / edge-case tests
    functionality: non-core / nice-to-have tests
    regression: regression tests from prior checkpoints
    slow: takes [long] and: longer
    bare: 
`
	if got := string(r.ini()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestKey(t *testing.T) {
	base := func(t *testing.T) *bench {
		s := newBench(t)
		s.run.Setup, s.run.SetupTimeout = []string{"make"}, time.Minute
		s.run.Env = []Var{{Name: "A", Value: "1"}}
		s.run.Markers = []Marker{{"slow", "slow"}}
		s.run.Assets = []Asset{{"data", "data"}}
		return s
	}
	key, manifest := base(t).key()
	const want = `kind: pytest
recipe: 7
checkpoint: cp
entry: python kv.py
tests directory: tests
args: []
plugins: []
timeout: 20s
session_timeout: 0s
setup: ["make"]
setup_timeout: 1m0s
repeat: 0
marker slow: slow
target of asset data: data
env A: 1
backend platform: fake
requirement pytest: 8.4.2
requirement pytest-timeout: 2.4.0
`
	if manifest != want {
		t.Errorf("manifest is\n%s\nwant\n%s", manifest, want)
	}
	for name, change := range map[string]func(r *Run){
		"checkpoint": func(r *Run) { r.Checkpoint = "x" }, "entry": func(r *Run) { r.Entry = "x" }, "directory": func(r *Run) { r.Directory = "x" },
		"args": func(r *Run) { r.Args = []string{"-x"} }, "plugins": func(r *Run) { r.Plugins = []string{"x"} }, "timeout": func(r *Run) { r.Timeout++ },
		"session timeout": func(r *Run) { r.SessionTimeout++ }, "setup": func(r *Run) { r.Setup = nil }, "setup timeout": func(r *Run) { r.SetupTimeout++ },
		"repeat": func(r *Run) { r.Repeat++ }, "marker": func(r *Run) { r.Markers[0].Name = "x" }, "marker's text": func(r *Run) { r.Markers[0].Description = "x" },
		"asset": func(r *Run) { r.Assets[0].Target = "x" }, "asset paths": func(r *Run) { r.RelativeAssets = true }, "env": func(r *Run) { r.Env[0].Value = "2" }, "env, more": func(r *Run) { r.Env = append(r.Env, Var{Name: "B"}) },
		"pin":        func(r *Run) { r.Pins = func(context.Context) ([]string, error) { return []string{"pytest==9"}, nil } },
		"not locked": func(r *Run) { r.Pins = func(context.Context) ([]string, error) { return nil, nil } },
		"backend": func(r *Run) {
			r.Identity = func(context.Context) (backend.Identity, error) {
				return backend.Identity{{Label: "platform", Value: "x"}}, nil
			}
		},
	} {
		s := base(t)
		change(s.run)
		if other, _ := s.key(); other == key {
			t.Errorf("%s is not in the key", name)
		}
	}
	for name, change := range map[string]func(r *Run){
		"unhashed":    func(r *Run) { r.Env = append(r.Env, Var{Name: "HTTP_PROXY", Value: "x", Unhashed: true}) },
		"overridden":  func(r *Run) { r.Env = append([]Var{{Name: "A", Value: "0"}}, r.Env...) },
		"environment": func(r *Run) { r.Environment = &Environments{} },
	} {
		s := base(t)
		change(s.run)
		if other, _ := s.key(); other != key {
			t.Errorf("%s is in the key", name)
		}
	}
}

func TestSetup(t *testing.T) {
	for _, try := range []struct {
		name    string
		exit    backend.Exit
		err     error
		said    string
		probed  backend.Exit
		answer  string
		tries   int // 0 means one
		state   event.State
		message string
	}{
		{name: "fine", said: "ok\n", state: event.Done},
		{name: "fails", exit: backend.Exit{Code: 1}, said: "tests failed\n", state: event.Done},
		{name: "requirement cannot be met", exit: backend.Exit{Code: 1}, said: "  × No solution found\n", state: event.Done},
		{name: "program is missing", exit: backend.Exit{Code: 127}, probed: backend.Exit{Code: 3}, answer: "setup\n", state: event.Broken, message: `set-up command "setup": a program is missing: setup`},
		{name: "reports a missing program", exit: backend.Exit{Code: 127}, said: "sh: 1: uv: not found\n", state: event.Done},
		{name: "no network", exit: backend.Exit{Code: 2}, probed: backend.Exit{Code: 4}, answer: "error: x\n  error sending request for url (u)\nlast\n",
			state: event.Broken, message: `set-up command "setup": no network: error sending request for url (u)`},
		{name: "no package", exit: backend.Exit{Code: 2}, probed: backend.Exit{Code: 4}, answer: "  × No solution found\n", state: event.Done},
		{name: "reports a missing network", exit: backend.Exit{Code: 2}, said: "connection refused\n", tries: 2, state: event.Done},
		{name: "no network, until the limit", exit: backend.Exit{Code: 2}, probed: backend.Exit{Code: -1, TimedOut: true}, state: event.Broken, message: "the package index does not answer within 2m0s"},
		{name: "the question is killed", exit: backend.Exit{Code: 2}, probed: backend.Exit{Code: -1, Signal: "killed"}, state: event.Broken, message: "ended by a signal: killed"},
		{name: "network words, but fine", said: "connection refused\n", state: event.Done},
		{name: "took too long", exit: backend.Exit{Code: -1, Signal: "killed", TimedOut: true}, state: event.Done},
		{name: "machinery", err: errors.New("unplugged"), state: event.Broken, message: `set-up command "setup": unplugged`},
	} {
		s := newBench(t)
		s.run.Setup, s.run.SetupTimeout = []string{"setup", "second"}, time.Hour
		tries := 0
		s.setup = func(c *fake.Call) (backend.Exit, error) {
			if c.Command.Argv[2] == "second" {
				return backend.Exit{}, nil
			}
			tries++
			io.WriteString(c.Command.Output, try.said)
			return try.exit, try.err
		}
		s.probe = func(c *fake.Call) (backend.Exit, error) {
			if len(c.Spec.Inputs) > 0 {
				t.Errorf("%s: queried with the submission", try.name)
			}
			io.WriteString(c.Command.Output, try.answer)
			return try.probed, nil
		}
		st, outputs := s.execute()
		if st.State != try.state || !strings.Contains(st.Message, try.message) {
			t.Errorf("%s: %s: %s", try.name, st.State, st.Message)
		}
		if tries != max(try.tries, 1) {
			t.Errorf("%s: %d tries", try.name, tries)
		}
		if want := "$ setup\n" + try.said + fmt.Sprintf("[%s]\n$ second\n[exit 0]\n", session.Words("exit", try.exit)); try.state == event.Done && outputs[OutputSetup] != want {
			t.Errorf("%s: noted %q, want %q", try.name, outputs[OutputSetup], want)
		}
	}
}

func TestPrepare(t *testing.T) {
	s := newBench(t)
	s.execute()
	s.execute()
	if n := s.prepared(); n != 1 {
		t.Errorf("prepared %d times", n)
	}
	s.run.Pins = func(context.Context) ([]string, error) { return []string{"pytest==9.0.0"}, nil }
	s.execute()
	s.run.Env = []Var{{Name: "UV_CACHE_DIR", Value: "/elsewhere", Unhashed: true}}
	s.execute()
	if n := s.prepared(); n != 3 {
		t.Errorf("prepared %d times for three environments", n)
	}
	other := newBench(t)
	other.run.Environment = s.run.Environment
	other.execute()
	if n := other.prepared(); n != 1 {
		t.Errorf("another backend: prepared %d times", n)
	}

	// Packages missing from the cache are downloaded, unless the network is forbidden.
	s = newBench(t)
	lacking := func(c *fake.Call) (backend.Exit, error) {
		if slices.Contains(c.Command.Argv, "--offline") {
			return backend.Exit{Code: 2}, nil
		}
		return backend.Exit{}, nil
	}
	s.uvx = lacking
	if st, _ := s.execute(); st.State != event.Done || s.prepared() != 2 {
		t.Errorf("with a cold cache: %s: %s; prepared %d times", st.State, st.Message, s.prepared())
	}
	s = newBench(t)
	s.uvx, s.run.Environment.Offline = lacking, true
	if st, _ := s.execute(); st.State != event.Broken || s.prepared() != 1 {
		t.Errorf("with a cold cache and no network: %s: %s; prepared %d times", st.State, st.Message, s.prepared())
	}

	// A failure is broken, and not remembered.
	s = newBench(t)
	fails := 2 // without the network and with it
	s.uvx = func(c *fake.Call) (backend.Exit, error) {
		if fails--; fails >= 0 {
			io.WriteString(c.Command.Output, "error: Failed to fetch: `https://index`\n")
			return backend.Exit{Code: 2}, nil
		}
		return backend.Exit{}, nil
	}
	if st, _ := s.execute(); st.State != event.Broken || st.Message != "preparing pytest with uv: exit code 2: error: Failed to fetch: `https://index`" {
		t.Errorf("%s: %s", st.State, st.Message)
	}
	if st, _ := s.execute(); st.State != event.Done || s.prepared() != 3 {
		t.Errorf("%s: %s; prepared %d times", st.State, st.Message, s.prepared())
	}
	s = newBench(t)
	s.uvx = func(*fake.Call) (backend.Exit, error) {
		return backend.Exit{}, &backend.ToolError{Tool: "uvx", Err: errors.New("not found in PATH")}
	}
	if st, _ := s.execute(); st.State != event.Broken || !strings.Contains(st.Message, "uvx: not found in PATH") || !strings.Contains(st.Message, "pip install uv") {
		t.Errorf("%s: %s", st.State, st.Message)
	}
}

func (s *bench) prepared() int {
	n := 0
	for _, c := range s.box.Calls() {
		if argv := c.Command.Argv; argv[0] == "uvx" && argv[len(argv)-1] == "--version" {
			n++
		}
	}
	return n
}

func TestEndsOfTheTests(t *testing.T) {
	for _, try := range []struct {
		name    string
		exit    backend.Exit
		err     error
		said    string
		reports bool
		machine string // the result of Verify
		uvGone  bool   // after the tests
		state   event.State
		facts   string
		message string
	}{
		{name: "red", exit: backend.Exit{Code: 1}, reports: true, state: event.Done, facts: `{"code":1}`},
		{name: "os._exit(0)", said: "test session starts", state: event.Done, facts: `{"code":0}`},
		{name: "killed", exit: backend.Exit{Code: -1, Signal: "killed"}, state: event.Done, facts: `{"code":-1,"signal":"killed"}`},
		{name: "limit", exit: backend.Exit{Code: -1, Signal: "killed", TimedOut: true}, state: event.Timeout, facts: `{"code":-1,"signal":"killed","timed_out":true,"limit":60}`, message: "pytest exceeded the session limit of 1m0s"},
		{name: "limit, machine full", exit: backend.Exit{Code: -1, Signal: "killed", TimedOut: true}, machine: "out of memory", state: event.Broken, message: "out of memory"},
		{name: "machine full", exit: backend.Exit{Code: 1}, machine: "out of memory", reports: true, state: event.Broken, message: "pytest ended with exit code 1, which proves nothing: out of memory"},
		{name: "machine full, tests fine", machine: "out of memory", reports: true, state: event.Done},
		{name: "uv's cache gone", exit: backend.Exit{Code: 3}, said: "test session starts", uvGone: true, state: event.Broken, message: "uv no longer provides pytest"},
		{name: "uv's cache gone, tests red", exit: backend.Exit{Code: 1}, reports: true, uvGone: true, state: event.Done},
		{name: "memory limit", exit: backend.Exit{Code: -1, Signal: "killed", OOM: true, OOMLimit: 64 << 20}, state: event.Done, facts: `{"code":-1,"signal":"killed","memory_limit":67108864}`},
		{name: "uvx cannot start pytest", exit: backend.Exit{Code: 2}, said: "error: Failed to spawn: `pytest`\n", uvGone: true, state: event.Broken, message: "uv no longer provides pytest"},
		{name: "uvx's answer", exit: backend.Exit{Code: 2}, said: "error: Failed to spawn: `pytest`\n", state: event.Done, facts: `{"code":2,"outside":"kv"}`},
		{name: "error: in a test", exit: backend.Exit{Code: 1}, said: "=== test session starts ===\nerror: mine\n", state: event.Done},
		{name: "error: with a report", exit: backend.Exit{Code: 1}, said: "error: mine\n", reports: true, state: event.Done},
		{name: "usage", exit: backend.Exit{Code: 4}, said: "ERROR: usage: pytest\n", state: event.Done, facts: `{"code":4,"outside":"kv"}`},
		{name: "machinery", err: errors.New("unplugged"), state: event.Broken, message: "running pytest: unplugged"},
	} {
		s := newBench(t)
		s.box.OnVerify = func(backend.Spec) error {
			if try.machine != "" {
				return errors.New(try.machine)
			}
			return nil
		}
		s.tests = func(c *fake.Call) (backend.Exit, error) {
			if try.reports {
				passing(c)
			}
			submission := c.Spec.Inputs
			s.uvx = func(c *fake.Call) (backend.Exit, error) {
				if try.uvGone || len(c.Spec.Inputs) == len(submission) { // it can have removed uv's files there
					return backend.Exit{Code: 2}, nil
				}
				return backend.Exit{}, nil
			}
			io.WriteString(c.Command.Output, try.said)
			return try.exit, try.err
		}
		if try.exit.TimedOut {
			s.run.SessionTimeout = time.Minute
		}
		st, outputs := s.execute()
		if st.State != try.state || !strings.Contains(st.Message, try.message) || try.facts != "" && outputs[OutputExit] != try.facts {
			t.Errorf("%s: %s: %s; exit %s", try.name, st.State, st.Message, outputs[OutputExit])
		}
	}
}

// A signal from outside its session can end pytest: it runs once more, unless tests may have run. Then the submission
// could have sent the signal, and gets no second chance.
func TestSignalFromOutside(t *testing.T) {
	for _, test := range []struct {
		name string
		exit backend.Exit
		runs int // if it ended early
	}{
		{"killed", backend.Exit{Code: -1, Signal: "killed"}, 2},
		{"killed, reported by uvx", backend.Exit{Code: 137}, 2},
		{"stopped until the limit", backend.Exit{Code: -1, Signal: "killed", TimedOut: true, Stopped: true}, 2},
		{"a fault, or who sent its signal", backend.Exit{Code: -1, Signal: "segmentation fault"}, 2},
		{"a fault, reported by uvx", backend.Exit{Code: 134}, 2},
		{"limit", backend.Exit{Code: -1, Signal: "killed", TimedOut: true}, 1},
		{"its memory limit", backend.Exit{Code: -1, Signal: "killed", OOM: true}, 1},
	} {
		for _, early := range []bool{false, true} {
			for _, again := range []bool{false, true} {
				s := newBench(t)
				s.early = early
				runs := 0
				s.tests = func(c *fake.Call) (backend.Exit, error) {
					if runs++; runs > 1 && !again {
						return passing(c)
					}
					return test.exit, nil
				}
				_, outputs := s.execute()
				want := test.runs
				if !early {
					want = 1
				}
				if passed := strings.Contains(outputs[OutputExit], `"code":0`); runs != want || passed != (want == 2 && !again) {
					t.Errorf("%s (early: %v, again: %v): ran %d times, exit %s", test.name, early, again, runs, outputs[OutputExit])
				}
			}
		}
	}
	s := newBench(t)
	s.early = true
	runs := 0
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		runs++
		c.Files.Write(keyPath, []byte("another"))
		return backend.Exit{Code: 137}, nil
	}
	if s.execute(); runs != 1 {
		t.Errorf("with a key of the submission's: ran %d times", runs)
	}
}

// TestReports: an invalid file instead of a report counts as missing; an error of fetching it is the machine's.
func TestReports(t *testing.T) {
	s := newBench(t)
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		c.Files.Symlink("/etc/passwd", stagesPath)
		c.Files.Write(ctrfPath+"/dir", nil)
		return backend.Exit{}, nil
	}
	if st, outputs := s.execute(); st.State != event.Done || outputs[OutputStages] != "" || outputs[OutputCTRF] != "" {
		t.Errorf("%s with %q", st.State, outputs)
	}
	s = newBench(t)
	s.run.Backend = uncollected{s.box}
	if st, _ := s.execute(); st.State != event.Broken || st.Message != "fetching .scbench/seal: cable cut" {
		t.Errorf("%s: %s", st.State, st.Message)
	}
}

// uncollected is a backend whose sessions cannot hand anything out.
type uncollected struct{ *fake.Backend }

func (u uncollected) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	s, err := u.Backend.Open(ctx, spec)
	return deaf{s}, err
}

type deaf struct{ backend.Session }

func (deaf) Collect(context.Context, string) (io.ReadCloser, error) {
	return nil, errors.New("cable cut")
}

func TestHugeOutput(t *testing.T) {
	s := newBench(t)
	s.run.Setup = []string{"noise"}
	chunk := bytes.Repeat([]byte("noise\n"), 1<<20/6)
	noise := func(c *fake.Call, mebibytes int) (backend.Exit, error) {
		for range mebibytes {
			c.Command.Output.Write(chunk)
		}
		return backend.Exit{Code: 1}, nil
	}
	s.setup = func(c *fake.Call) (backend.Exit, error) { return noise(c, 25) }
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		c.Command.Output.Write(collected(7))
		exit, err := noise(c, 100)
		io.WriteString(c.Command.Output, "the end\n")
		return exit, err
	}
	_, outputs := s.execute()
	for _, name := range []string{OutputLog, OutputSetup} {
		text := outputs[name]
		if len(text) > 20<<20 || !strings.Contains(text, "bytes dropped") {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
	if text := outputs[OutputLog]; !strings.HasPrefix(text, string(collected(7))) || !strings.HasSuffix(text, "the end\n") {
		t.Error("the beginning or the end of the log is lost")
	}
}

func TestOpenFails(t *testing.T) {
	for fails, message := range map[string]string{
		"prepare":        "preparing pytest with uv: opening session: no space left on device",
		"pytest:kv/cp/a": "opening a session: opening session: no space left on device",
	} {
		s := newBench(t)
		s.box.OnOpen = func(spec backend.Spec) error {
			if spec.Name == fails {
				return errors.New("no space left on device")
			}
			return nil
		}
		if st, _ := s.execute(); st.State != event.Broken || st.Message != message {
			t.Errorf("%s: %s: %s", fails, st.State, st.Message)
		}
	}
}

func TestCancelled(t *testing.T) {
	s := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		cancel()
		return passing(c)
	}
	if st, _ := s.executeWith(ctx, graph.Retry{Attempts: 3}); st.State != event.Interrupted {
		t.Errorf("%s: %s", st.State, st.Message)
	}
}

func TestPanicClosesTheSession(t *testing.T) {
	s := newBench(t)
	s.tests = func(*fake.Call) (backend.Exit, error) { panic("bug") }
	if st, _ := s.execute(); st.State != event.Broken { // executeWith counts sessions
		t.Errorf("%s: %s", st.State, st.Message)
	}
}

// TestEnter: a shell gets the very workspace and command of the node.
func TestEnter(t *testing.T) {
	s := newBench(t)
	s.run.Setup = []string{"setup"}
	s.execute()
	calls := s.box.Calls()
	g := graph.New()
	var deps []graph.Dep
	for _, name := range []string{"tests", "submission"} {
		id := g.Add(graph.Node{Addr: name, Kind: name, Task: tree{s.trees[name]}})
		deps = append(deps, graph.Dep{On: id, As: name, Outputs: []string{"tree"}})
	}
	id := g.Add(graph.Node{Addr: "pytest:kv/cp/a", Kind: "pytest", Task: s.run, Deps: deps})
	r, err := g.Execute(t.Context(), []graph.ID{0, 1}, graph.Options{Store: s.store, Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("left the shell")
	err = s.run.Enter(t.Context(), g.Inputs(r, id, s.store), io.Discard, func(session backend.Session, tests []string, command func([]string) backend.Command) error {
		last := calls[len(calls)-1].Command
		first := slices.Index(last.Argv, pluginName) - 1
		unsealed := slices.Delete(slices.Clone(last.Argv), first, first+4) // both plugins
		if diff := cmp.Diff(unsealed, tests) + cmp.Diff(last.Env[:len(last.Env)-1], command(nil).Env); diff != "" {
			t.Error(diff)
		}
		return stop
	})
	if !errors.Is(err, stop) || s.box.Opens() != s.box.Closes() {
		t.Errorf("%v; %d opened, %d closed", err, s.box.Opens(), s.box.Closes())
	}
}

// An environment is shared only by sessions that cannot change it, and if its name determines its content.
func TestProvided(t *testing.T) {
	const hashed, python = "pytest==8.4.2 --hash=sha256:00", "/usr/bin/python3"
	level := func(level string) backend.Capabilities {
		return backend.Capabilities{Isolation: func() string { return level }}
	}
	venv := func(version, pin string) string {
		return "/shared/" + requirements.Name(python, version, []string{pin}) + "/venv"
	}
	for name, c := range map[string]struct {
		can                  backend.Capabilities
		shared, version, pin string
		want                 string
	}{
		"full":               {level("full"), "/shared", "3.11.7", hashed, venv("3.11.7", hashed)},
		"partial":            {level("partial"), "/shared", "3.11.7", hashed, venv("3.11.7", hashed)},
		"another Python":     {level("full"), "/shared", "3.11.8", hashed, venv("3.11.8", hashed)},
		"none":               {level("none"), "/shared", "3.11.7", hashed, ""},
		"unknown level":      {backend.Capabilities{}, "/shared", "3.11.7", hashed, ""},
		"a file":             {level("full"), "/shared", "3.11.7", "pytest @ file:///pytest.whl", ""},
		"no path":            {level("full"), "", "3.11.7", hashed, ""},
		"files of a session": {backend.Capabilities{OwnFiles: true}, "/shared", "3.11.7", "pytest @ file:///pytest.whl", "/shared/pytest/venv"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run{Shared: c.shared, Backend: &fake.Backend{Can: c.can}, pins: []string{c.pin}}
			if got := r.locatePytest(python, c.version).venv; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// An environment that provides no pytest is marked, so that it is prepared again, and not removed under the
// sessions that it has.
func TestDamaged(t *testing.T) {
	code := 0
	b := fake.New(cache.NewMemory(), func(context.Context, *fake.Call) (backend.Exit, error) { return backend.Exit{Code: code}, nil })
	b.Can.Isolation = func() string { return "full" }
	r := Run{Shared: t.TempDir(), Backend: b, pins: []string{"pytest==8.4.2 --hash=sha256:00"}}
	in := r.locatePytest("/usr/bin/python3", "3.11.7")
	if err := os.MkdirAll(in.venv, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		well bool
	}{{0, true}, {1, false}} {
		code = c.code
		err := (&Environments{}).verify(t.Context(), &r, "n", in)
		if _, marked := os.Stat(filepath.Join(in.shared(), damagedFile)); (err == nil) != c.well || (marked != nil) != c.well {
			t.Errorf("pytest --version ends with %d: %v, then %v", code, err, marked)
		}
	}
	if _, err := os.Stat(in.venv); err != nil {
		t.Error(err)
	}
}

// From an environment, pytest is started without uv.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	r := Run{Directory: "tests", Backend: &fake.Backend{}, pins: []string{"pytest==8.4.2 --hash=sha256:00"}}
	in := pytestLocation{python: "/usr/bin/python3", venv: filepath.Join(dir, "pytest", "venv")}
	bin := filepath.Join(dir, "pytest", "venv", "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o755), os.WriteFile(filepath.Join(bin, "pytest"), []byte("#!/bin/sh\necho \"${PATH%%:*}\" \"$@\"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	run := func(argv []string) string {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", argv, err, out)
		}
		return string(out)
	}
	if got := run(firstCommand(r.testCommand(in, "", nil))); !strings.HasPrefix(got, bin+" tests/ --entrypoint=") {
		t.Errorf("got %q", got)
	}
	provide := r.provide(in, false)
	if last := provide[len(provide)-3:]; !slices.Equal(last, []string{filepath.Join(dir, "pytest"), "--require-hashes", r.pins[0]}) {
		t.Errorf("got %q", provide)
	}
	if got := run(provide); got != "" {
		t.Errorf("of an existing one: %q", got)
	}
	uv := t.TempDir()
	if err := errors.Join(os.RemoveAll(in.venv), os.WriteFile(filepath.Join(uv, "uv"), []byte("#!/bin/sh\necho \"uv $1\"; exit 7\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", uv+":"+os.Getenv("PATH"))
	out, err := exec.Command(provide[0], provide[1:]...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 7 || !strings.HasSuffix(string(out), "uv venv\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// firstCommand returns the command of two results.
func firstCommand(argv, _ []string) []string { return argv }
