package pytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func TestEnvironment(t *testing.T) {
	s := newBench(t)
	s.run.Env = []Var{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}, {Name: "A", Value: "3"}}
	s.run.Assets = []Asset{{Name: "my-files.v2", Target: "data"}, {Name: "cfg", Target: "etc/cfg.json"}}
	s.trees["asset my-files.v2"] = []string{"data/x=1"}
	s.trees["asset cfg"] = []string{"etc/cfg.json={}"}
	s.execute()
	want := []string{"A=1", "B=2", "A=3", "SCBENCH_ASSETS_DIR=/fake-workspace/tests/assets", "SCBENCH_ASSET_MY_FILES_V2=/fake-workspace/tests/assets/data",
		"SCBENCH_ASSET_CFG=/fake-workspace/tests/assets/etc/cfg.json", "SCBENCH_CHECKPOINT=cp", "PYTHONPATH=/fake-workspace/.scbench/plugin"}
	for i, c := range s.box.Calls() {
		want := want
		if i == 0 { // preparing knows no checkpoint
			want = want[:3]
		}
		if diff := cmp.Diff(want, c.Command.Env); diff != "" {
			t.Errorf("%q: %s", c.Command.Argv, diff)
		}
	}
}

func TestRelativeAssets(t *testing.T) {
	s := newBench(t)
	s.run.Directory, s.run.RelativeAssets = ".evaluation_tests", true
	if got, want := s.run.environ("/workspace", s.run.Env.Variables()), []string{"SCBENCH_CHECKPOINT=cp"}; !slices.Equal(got, want) {
		t.Errorf("without assets: %q, want %q", got, want)
	}
	if _, manifest := s.key(); strings.Contains(manifest, "relative") {
		t.Errorf("without assets, their paths are in the manifest:\n%s", manifest)
	}
	s.run.Assets = []Asset{{Name: "data", Target: "lists/data"}}
	want := []string{"SCBENCH_ASSETS_DIR=.evaluation_tests/assets", "SCBENCH_ASSET_DATA=.evaluation_tests/assets/lists/data", "SCBENCH_CHECKPOINT=cp"}
	if diff := cmp.Diff(want, s.run.environ("/workspace", s.run.Env.Variables())); diff != "" {
		t.Error(diff)
	}
}

// A hidden directory of tests works like any other on the command line, in pytest.ini and in the report. Unlike with
// SlopCodeBench's runner, pytest.ini names the actual directory.
func TestDirectoryOfTests(t *testing.T) {
	s := newBench(t)
	s.run.Directory = ".evaluation_tests"
	s.trees["submission"] = []string{"kv.py=code", "tests/test_own.py=own", ".evaluation_tests/test_cp.py=evil"}
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		for name, want := range map[string]string{"tests/test_own.py": "own", ".evaluation_tests/test_cp.py": "tests"} {
			if got, err := c.Files.Read(name); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v", name, got, err)
			}
		}
		return passing(c)
	}
	s.execute()
	calls := s.box.Calls()
	last := calls[len(calls)-1].Command.Argv
	if got := fmt.Sprint(last); !strings.Contains(got, " pytest .evaluation_tests/ ") || !strings.Contains(got, "--confcutdir=.evaluation_tests") || strings.Contains(got, " tests") {
		t.Errorf("the command is %q", last)
	}
	if got := string(s.run.ini()); !strings.Contains(got, "testpaths = .evaluation_tests\n") {
		t.Errorf("pytest.ini is\n%s", got)
	}
	v, _ := parse.judge(runOutput{stages: encode(0, one{id: ".evaluation_tests/test_checkpoint_2.py::test_a"})})
	if got := v.Tests[0]; got.File != ".evaluation_tests/test_checkpoint_2.py" || got.ID != "test_a" || got.Checkpoint != "checkpoint_2" || got.Group != verdict.Core {
		t.Errorf("%+v", got)
	}
}

// Values are single arguments with any content, and the entry is passed on verbatim, since tests look at its beginning.
// No shell and no word splitting is involved.
func TestArgumentsAreNotSplit(t *testing.T) {
	s := newBench(t)
	s.run.Entry, s.run.Checkpoint = `uv run "my tool.py" --x='$HOME' >=6`, "cp 1;exit"
	s.run.Args = []string{"-k", "a or b", "--opt=>x y", ""}
	s.run.Pins = func(context.Context) ([]string, error) { return []string{"pyyaml==6.0.2"}, nil }
	s.execute()
	calls := s.box.Calls()
	argv := calls[len(calls)-1].Command.Argv
	for _, want := range []string{"--with=pyyaml==6.0.2", `--entrypoint=uv run "my tool.py" --x='$HOME' >=6`, "--checkpoint=cp 1;exit"} {
		if !slices.Contains(argv, want) {
			t.Errorf("%q is not an argument of %q", want, argv)
		}
	}
	if got := argv[len(argv)-4:]; !slices.Equal(got, s.run.Args) {
		t.Errorf("the last arguments are %q", got)
	}
}

// TestProblemWins: no file of a submission replaces one of the problem.
func TestProblemWins(t *testing.T) {
	s := newBench(t)
	s.trees["tests"] = []string{"test_cp.py=real", "conftest.py=real", "assets/own.txt=real"}
	s.trees["submission"] = []string{"kv.py=code", "conftest.py=evil", "tests/test_cp.py=evil", "tests/test_more.py=evil", "tests/assets/data/x=evil", "pytest.ini=evil",
		"setup.cfg=[tool:pytest]", ".scbench/stages=evil", ".scbench/pytest-report.json=evil", ".scbench/ctrf-report.json->../kv.py"}
	s.run.Assets = []Asset{{Name: "data", Target: "data"}}
	s.trees["asset data"] = []string{"data/x=real"}
	files := map[string]string{}
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		for _, name := range c.Files.Names() {
			b, err := c.Files.Read(name)
			if err != nil {
				t.Error(err)
			}
			files[name] = string(b)
		}
		return backend.Exit{}, nil
	}
	st, outputs := s.execute()
	want := map[string]string{"kv.py": "code", "conftest.py": "evil", "setup.cfg": "[tool:pytest]", "pytest.ini": string(s.run.ini()),
		"tests/test_cp.py": "real", "tests/conftest.py": "real", "tests/assets/own.txt": "real", "tests/assets/data/x": "real", ".scbench/plugin/fevalgraph_seal.py": string(plugin), ".scbench/plugin/fevalgraph_limits.py": string(limitsPlugin)}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("the workspace (-want +got):\n%s", diff)
	}
	if st.State != event.Done || outputs[OutputStages] != "" || outputs[OutputReport] != "" || outputs[OutputCTRF] != "" {
		t.Errorf("%s with %q", st.State, outputs)
	}
	// The root conftest.py exists, and pytest does not search above tests.
	for _, arg := range []string{"--confcutdir=tests", "-c", "--rootdir=."} {
		if !slices.Contains(firstCommand(s.run.testCommand(pytestLocation{}, "", nil)), arg) {
			t.Errorf("%s is missing", arg)
		}
	}
	// A submission that replaces its tests by a link out of it.
	s.trees["submission"] = []string{"kv.py=code", "tests->/etc", ".scbench->/tmp", "pytest.ini->kv.py"}
	clear(files)
	s.execute()
	if files["tests/test_cp.py"] != "real" || files["pytest.ini"] != string(s.run.ini()) || files["kv.py"] != "code" {
		t.Errorf("the workspace is %q", files)
	}
}

// Set-up commands run code that a submission ships: building it, for example.
func TestProblemWinsOverSetup(t *testing.T) {
	s := newBench(t)
	s.run.Setup = []string{"make"}
	var seen []string
	s.setup = func(c *fake.Call) (backend.Exit, error) {
		seen = c.Files.Names()
		for _, name := range []string{"tests/test_cp.py", "tests/test_more.py", "pytest.ini", stagesPath, "built"} {
			c.Files.Write(name, []byte("evil"))
		}
		return backend.Exit{}, nil
	}
	files := map[string]string{}
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		for _, name := range c.Files.Names() {
			b, err := c.Files.Read(name)
			if err != nil {
				t.Error(err)
			}
			files[name] = string(b)
		}
		return passing(c)
	}
	s.execute()
	if diff := cmp.Diff([]string{"kv.py"}, seen); diff != "" {
		t.Errorf("what set-up sees (-want +got):\n%s", diff)
	}
	want := map[string]string{"kv.py": "code", "built": "evil", "tests/test_cp.py": "tests", "pytest.ini": string(s.run.ini()), ".scbench/plugin/fevalgraph_seal.py": string(plugin), ".scbench/plugin/fevalgraph_limits.py": string(limitsPlugin)}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files that tests see (-want +got):\n%s", diff)
	}
}

func TestSecrets(t *testing.T) {
	const secret = "s3cr3t-value"
	s := newBench(t)
	s.run.Env = []Var{{Name: "TOKEN", Value: secret, Secret: "token"}}
	s.run.Setup = []string{"login"}
	s.setup = func(c *fake.Call) (backend.Exit, error) {
		fmt.Fprintf(c.Command.Output, "logged in with %s\n", secret)
		return backend.Exit{Code: 1}, nil
	}
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		if loaded, _ := c.Files.Read(pluginDir + "/" + pluginName + ".py"); !strings.HasSuffix(string(loaded), "\nROOM = sys.maxsize\n") {
			t.Error("the plugin shortens messages")
		}
		c.Command.Output.Write([]byte("token " + secret[:4])) // split over two writes
		c.Command.Output.Write([]byte(secret[4:] + "\n"))
		for _, name := range []string{stagesPath, jsonReportPath, ctrfPath} {
			c.Files.Write(name, encode(1, one{id: "t.py::t", stages: fails, message: "got " + secret}))
		}
		return backend.Exit{Code: 1}, nil
	}
	st, outputs := s.execute()
	if st.State != event.Done {
		t.Fatalf("%s: %s", st.State, st.Message)
	}
	for _, name := range []string{OutputLog, OutputSetup, OutputStages, OutputReport, OutputCTRF} {
		if text := outputs[name]; strings.Contains(text, secret) || !strings.Contains(text, "***") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if calls := s.box.Calls(); !slices.Contains(calls[0].Command.Env, "TOKEN="+secret) {
		t.Error("the tests do not get the secret")
	}

	key, manifest := s.key()
	if strings.Contains(manifest, secret) || !strings.Contains(manifest, "env TOKEN from secret: token\n") {
		t.Errorf("manifest:\n%s", manifest)
	}
	s.run.Env[0].Value = "another"
	if other, _ := s.key(); other != key {
		t.Error("the value of a secret is in the key")
	}
	s.run.Env = []Var{{Name: "TOKEN", Value: "token"}}
	if other, _ := s.key(); other == key {
		t.Error("a plain value looks like a secret's name")
	}

	// Broken runs are reported without the secret.
	s.run.Env = []Var{{Name: "TOKEN", Value: secret, Secret: "token"}}
	s.setup = func(c *fake.Call) (backend.Exit, error) {
		fmt.Fprintf(c.Command.Output, "%s: not found\n", secret)
		return backend.Exit{Code: 127}, nil
	}
	s.probe = func(c *fake.Call) (backend.Exit, error) {
		fmt.Fprintf(c.Command.Output, "error sending request for https://%s@host\n", secret)
		return backend.Exit{Code: 4}, nil
	}
	st, _ = s.execute()
	if st.State != event.Broken || strings.Contains(st.Message, secret) || strings.Contains(s.saved, secret) {
		t.Errorf("%s: %s\n%s", st.State, st.Message, s.saved)
	}
	s.run.Setup, s.run.Environment = nil, &Environments{}
	s.uvx = func(c *fake.Call) (backend.Exit, error) {
		fmt.Fprintf(c.Command.Output, "error: bad index https://%s@host\n", secret)
		return backend.Exit{Code: 2}, nil
	}
	st, _ = s.execute()
	if st.State != event.Broken || strings.Contains(st.Message, secret) {
		t.Errorf("%s: %s", st.State, st.Message)
	}
}
