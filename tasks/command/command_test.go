package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/compat/frontier/rules"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// tree is a source of the test's files.
type tree struct{ files map[string]string }

func (s tree) Describe(_ context.Context, m *graph.Manifest) error {
	encoded, err := json.Marshal(s.files)
	m.String("files", string(encoded))
	return err
}

func (s tree) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var entries []cache.Entry
	for name, content := range s.files {
		d, err := cache.PutBytes(ctx, w.Store, []byte(content))
		if err != nil {
			return graph.Outcome{}, err
		}
		entries = append(entries, cache.Entry{Path: name, Digest: d, Executable: strings.HasSuffix(name, ".sh")})
	}
	t, err := cache.BuildTree(entries)
	if err != nil {
		return graph.Outcome{}, err
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: tasks.TreeOutput, Digest: t.Root, Tree: true}}}, t.Store(ctx, w.Store)
}

// came is the results of a run and of its score.
type came struct {
	run, score *graph.Status
	checkpoint verdict.Checkpoint
	message    string
	log        string
}

// judge runs r, whose script is problem/grade.sh by default, on this machine.
func judge(t *testing.T, script string, r command.Run, rule score.Rule) came {
	t.Helper()
	store := cache.NewMemory()
	r.Backend = local.New(store, local.Options{Probes: local.Probes{Path: backendtest.Path}, Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Confinement: local.Confinement{Isolation: "none"}})
	r.Identity = func(context.Context) (backend.Identity, error) { return nil, nil }
	r.Machine = &session.Machine{Offline: true}
	r.Inputs = []string{"root", "submission"}
	r.Env = append(r.Env, session.Variable{Name: "PATH", Value: backendtest.Path})
	if r.Directory == "" {
		r.Directory = "problem"
	}
	if r.Argv == nil {
		r.Argv = []string{"./grade.sh"}
	}
	g := graph.New()
	out := []string{tasks.TreeOutput}
	root := g.Add(graph.Node{Addr: "root", Kind: "workspace", Task: tree{map[string]string{"problem/grade.sh": "#!/bin/sh\n" + script, "problem/plain": "x", "problem/stale.json": `{"score": 99}`}}})
	sub := g.Add(graph.Node{Addr: "submission", Kind: "submission", Task: tree{map[string]string{"solution/solution.py": "answer\n"}}})
	run := g.Add(graph.Node{Addr: "command", Kind: "command", Task: &r, Deps: []graph.Dep{{On: root, As: "root", Outputs: out}, {On: sub, As: "submission", Outputs: out}}})
	scored := g.Add(graph.Node{Addr: "score", Kind: "score", Task: &command.Score{Rule: rule, Policy: verdict.AnyJudged}, Deps: []graph.Dep{{On: run, As: command.From, Outputs: command.Outputs()}}, Kept: true})
	rep, err := g.Execute(t.Context(), []graph.ID{scored}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	c := came{run: rep.Status(run), score: rep.Status(scored)}
	read := func(st *graph.Status, name string, into any) {
		for _, o := range st.Outputs {
			if o.Name != name {
				continue
			}
			content, err := cache.ReadBlob(t.Context(), store, o.Digest, -1)
			if err == nil && into != nil {
				err = json.Unmarshal(content, into)
			}
			if err != nil {
				t.Fatal(err)
			}
			if into == nil {
				c.log = string(content)
			}
		}
	}
	var m verdict.Measurements
	read(c.score, tasks.ResultOutput, &c.checkpoint)
	read(c.score, tasks.MeasurementsOutput, &m)
	read(c.run, command.OutputLog, nil)
	c.message = m.Message
	return c
}

func TestEndings(t *testing.T) {
	safe := score.Rule{From: score.Stdout, Compat: "safe"}
	frontier := score.Rule{From: score.Output, Compat: "frontier", Dialect: rules.Runner{}, AnyExit: true}
	anyExit := score.Rule{From: score.Stdout, Compat: "safe", AnyExit: true}
	file := func(name string) (command.Run, score.Rule) {
		return command.Run{File: "problem/" + name}, score.Rule{From: score.File, Pointer: "/score"}
	}
	fresh, pointer := file("new.json")
	stale, _ := file("stale.json")
	for _, c := range []struct {
		name    string
		script  string
		run     command.Run
		rule    score.Rule
		class   verdict.Class
		score   float64 // -1 without a score
		message string
	}{
		{"a score", "cat ../solution/solution.py; echo 85.5 90", command.Run{}, safe, verdict.Judged, 85.5, ""},
		{"zero", "echo 0", command.Run{}, safe, verdict.Judged, 0, ""},
		{"a score and a bad end", "echo 12; exit 3", command.Run{}, safe, verdict.NoScore, -1, "the program failed (exit code 3), so that the score it left does not count"},
		{"a score and a signal", "echo 12; kill -KILL $$", command.Run{}, safe, verdict.NoScore, -1, "the program failed (killed), so that the score it left does not count"},
		{"a score and an allowed bad end", "echo 12; exit 3", command.Run{}, anyExit, verdict.Judged, 12, ""},
		{"a score and an allowed signal", "echo 12; kill -KILL $$", command.Run{}, anyExit, verdict.Judged, 12, ""},
		{"code rewritten", "echo 12; echo '#' >>grade.sh", command.Run{}, safe, verdict.Refused, 0, "problem/grade.sh, code of the problem, was rewritten while the program ran"},
		{"code rewritten, and a limit", "rm grade.sh; mkdir grade.sh; sleep 60", command.Run{Timeout: 2 * time.Second}, safe, verdict.Refused, 0, "problem/grade.sh, code of the problem, was rewritten while the program ran"},
		{"code rewritten by set-up", "echo 12", command.Run{Setup: []session.Step{{Line: "echo '\n#' >>grade.sh", Directory: "problem"}}}, safe, verdict.Judged, 12, ""},
		{"data rewritten", "echo 12 >plain; cat plain", command.Run{}, safe, verdict.Judged, 12, ""},
		{"stderr has numbers", "echo 12; echo 99 >&2", command.Run{}, safe, verdict.Judged, 12, ""},
		{"stderr counts, too", "echo 12; echo 99 >&2", command.Run{}, frontier, verdict.Judged, 99, ""},
		{"no score", "echo 'ValueError: boom' >&2; exit 1", command.Run{}, safe, verdict.NoScore, -1, "no line of numbers on stdout (exit code 1): ValueError: boom"},
		{"nothing", "exit 0", command.Run{}, safe, verdict.NoScore, -1, "no line of numbers on stdout"},
		{"no output, as Frontier-CS", "exit 0", command.Run{}, frontier, verdict.NoScore, -1, "Could not parse score from output"},
		{"a signal", "kill -SEGV $$", command.Run{}, safe, verdict.NoScore, -1, "no line of numbers on stdout (segmentation fault)"},
		{"not a number", "echo nan", command.Run{}, safe, verdict.Judged, -1, "the score is nan, which counts as none"},
		{"a script that is missing", "", command.Run{Argv: []string{"sh", "absent.sh"}}, safe, verdict.NoScore, -1, "absent.sh"},
		{"124", "echo 12; exit 124", command.Run{}, anyExit, verdict.Judged, 12, ""},
		{"124, as Frontier-CS", "echo 12; exit 124", command.Run{}, frontier, verdict.SessionTimeout, -1, "the program's exit code 124 reports that its own time limit was over"},
		{"set-up fails", "echo 12", command.Run{Setup: []session.Step{{Line: "true", Directory: "."}, {Line: "echo 'Error: no data'; exit 4", Directory: "problem"}}}, safe, verdict.NoScore, -1,
			`set-up command "echo 'Error: no data'; exit 4" ended with exit code 4: Error: no data`},
		{"set-up takes too long", "echo 12", command.Run{Setup: []session.Step{{Line: "sleep 600", Directory: "."}}, SetupTimeout: 100 * time.Millisecond}, safe, verdict.NoScore, -1,
			`the limit of 100ms on set-up ended "sleep 600"`},
		{"set-up speaks of the machine", "echo 12", command.Run{Setup: []session.Step{{Line: "echo connection refused; exit 127", Directory: "."}}}, safe, verdict.NoScore, -1,
			`ended with exit code 127`},
		{"set-up", "cat made", command.Run{Setup: []session.Step{{Line: "echo 31 > made", Directory: "problem"}}}, safe, verdict.Judged, 31, ""},
		{"a file", `echo 3; echo '{"score": 61}' > new.json`, fresh, pointer, verdict.Judged, 61, ""},
		{"no file", `echo 3`, fresh, pointer, verdict.NoScore, -1, "problem/new.json not found: 3"},
		{"a link for a file", `ln -s stale.json new.json`, fresh, pointer, verdict.NoScore, -1, "problem/new.json is not a regular file"},
		{"a file of before", `echo 3`, stale, pointer, verdict.NoScore, -1, "the file is empty: 3"},
		{"environment", "echo $N", command.Run{Env: session.Environment{{Name: "N", Value: "4"}}}, safe, verdict.Judged, 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := judge(t, c.script, c.run, c.rule)
			if got.checkpoint.Class != c.class || !strings.Contains(got.message, c.message) || c.message == "" && got.message != "" {
				t.Errorf("class %s, message %q; want %s, %q\n%+v", got.checkpoint.Class, got.message, c.class, c.message, got.run)
			}
			switch s := got.checkpoint.Score.Bounded; {
			case c.score < 0 && s != nil, c.score >= 0 && (s == nil || *s != c.score):
				t.Errorf("score %v, want %v", s, c.score)
			}
			if c.name == "not a number" && got.checkpoint.Score.BoundedText != "nan" {
				t.Errorf("%+v", got.checkpoint)
			}
		})
	}
}

// A score that was printed after the time limit does not count, and processes that the program started end with it.
func TestLimit(t *testing.T) {
	t.Parallel()
	alive := filepath.Join(t.TempDir(), "alive")
	script := "echo 99; trap '' TERM; (trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > " + alive + "; while :; do sleep 1; done') & while :; do sleep 0.1; done"
	limit := time.Second
	got := judge(t, script, command.Run{Timeout: limit}, score.Rule{From: score.Stdout})
	// A busy process needs longer to get there.
	for _, err := os.Stat(alive); err != nil && limit < time.Minute; _, err = os.Stat(alive) {
		limit *= 4
		got = judge(t, script, command.Run{Timeout: limit}, score.Rule{From: score.Stdout})
	}
	if got.run.State != event.Timeout || got.checkpoint.Class != verdict.SessionTimeout || got.checkpoint.Score.Bounded != nil || got.message != fmt.Sprintf("the limit of %v ended the program", limit) {
		t.Errorf("%+v, %+v, %q", got.run, got.checkpoint, got.message)
	}
	if !strings.HasPrefix(got.log, "99\n") {
		t.Errorf("what it printed is lost: %q", got.log)
	}
	content, err := os.ReadFile(alive)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(content))
	await.Until(t, "process "+pid+", which the program started, is gone", func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ") // perhaps nothing has waited for it yet
	})
}

// Errors in the problem are the user's, errors on the machine the machine's.
func TestNotStarted(t *testing.T) {
	for program, want := range map[string]event.State{"./absent.sh": event.Failed, "./plain": event.Failed, "no-such-program-at-all": event.Broken} {
		got := judge(t, "", command.Run{Argv: []string{program}}, score.Rule{From: score.Stdout})
		if got.run.State != want || got.run.Input != (want == event.Failed) || !strings.Contains(got.run.Message, program) {
			t.Errorf("%s: %+v", program, got.run)
		}
	}
	setup := command.Run{Setup: []session.Step{{Line: "no-such-program-at-all", Directory: "."}}}
	if got := judge(t, "echo 1", setup, score.Rule{From: score.Stdout}); got.run.State != event.Broken {
		t.Errorf("%+v", got.run)
	}
}

// No output contains a secret, on any stream.
func TestSecret(t *testing.T) {
	got := judge(t, "echo $KEY 1; echo $KEY >&2; exit 1", command.Run{Env: session.Environment{{Name: "KEY", Value: "hush-hush", Secret: "key"}}}, score.Rule{From: score.Stdout})
	if strings.Contains(got.log+got.message, "hush") || !strings.Contains(got.log, "\n") {
		t.Errorf("log %q, message %q", got.log, got.message)
	}
}

func TestNoGPU(t *testing.T) {
	absent := &backend.AbsentError{}
	if err := local.New(cache.NewMemory(), local.Options{Probes: local.Probes{Path: t.TempDir()}}).Capabilities().GPU(t.Context()); !errors.As(err, &absent) {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for script, there := range map[string]bool{"echo 'GPU 0: some'": true, "exit 9": false, "exit 0": false} {
		if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := local.New(cache.NewMemory(), local.Options{Probes: local.Probes{Path: dir}}).Capabilities().GPU(t.Context()); (err == nil) != there || err != nil && !errors.As(err, &absent) {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// TestOneChance: a solution that is right by chance gets no second run by having the program killed.
func TestOneChance(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	for _, signal := range []string{"KILL", "SEGV", "TERM"} {
		c := judge(t, "echo x >>"+runs+"; [ $(wc -l <"+runs+") = 1 ] || echo 100; kill -"+signal+" $$", command.Run{}, score.Rule{From: score.Stdout, Compat: "safe", AnyExit: true})
		content, err := os.ReadFile(runs)
		if err != nil || string(content) != "x\n" || c.checkpoint.Class != verdict.NoScore {
			t.Errorf("%s: %q, %v; %s: %s", signal, content, err, c.checkpoint.Class, c.message)
		}
		os.Remove(runs)
	}
}
