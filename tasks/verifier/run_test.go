package verifier

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// A submission without any artifact is refused, as are links that lead out of their artifact.
func TestPresent(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"app/main.py data/x", "[/app /data]"},
		{"app/main.py", "[/app]"},
		{"app/main.py logs/artifacts/x", "[/app /logs/artifacts]"},
		{"logs/artifacts/x", "[/logs/artifacts]"},
		{"logs/artifacts/", "the solution has none of the artifacts: /app, /data"},
		{"app/main.py app/d/l->../main.py other->/tests", "[/app]"},
		{"app/l->gone", "[/app]"},
		{"data->app app/main.py", "[/app]"},
		{"other", "the solution has none of the artifacts: /app, /data"},
		{"app/", "[/app]"},
		{"app", "the artifact /app is a file, but the script starts in this directory"},
		{"app->x x/main.py", `the solution has none of the artifacts: /app, /data; /app is a link to "x"`},
		{"data->y app->x", `the solution has none of the artifacts: /app, /data; /app is a link to "x"`},
		{"app/answer.txt->../tests/expected.txt", "the artifact /app: symlink answer.txt points to ../tests/expected.txt: a symlink leads out of the directory"},
		{"app/l->../data/x data/x", "the artifact /app: symlink l points to ../data/x: a symlink leads out of the directory"},
		{"app/l->/tests/x", "the artifact /app: symlink l points to /tests/x: a symlink leads out of the directory"},
		{"app/up->. app/l->up/../x", "the artifact /app: symlink l points to up/../x: a symlink leads out of the directory"},
		{"app/l->l", "the artifact /app: symlink l points to l: too many levels of symlinks"},
		{"app/x logs/artifacts/l->../../tests", "the artifact /logs/artifacts: symlink l points to ../../tests: a symlink leads out of the directory"},
	} {
		store := cache.NewMemory()
		d, err := cache.PutBytes(t.Context(), store, nil)
		if err != nil {
			t.Fatal(err)
		}
		var entries []cache.Entry
		for _, file := range strings.Fields(c.files) {
			if name, target, link := strings.Cut(file, "->"); link {
				entries = append(entries, cache.Entry{Path: name, Link: target})
			} else if dir, ok := strings.CutSuffix(file, "/"); ok {
				entries = append(entries, cache.Entry{Path: dir, Dir: true})
			} else {
				entries = append(entries, cache.Entry{Path: file, Digest: d})
			}
		}
		tree, err := cache.BuildTree(entries)
		if err == nil {
			err = tree.Store(t.Context(), store)
		}
		if err != nil {
			t.Fatal(err)
		}
		all, why, err := (&Run{Artifacts: []string{"/app", "/data"}, Workdir: "/app"}).presentArtifacts(t.Context(), store, tree.Root)
		if got := fmt.Sprint(all); err != nil || got != c.want && (why != c.want || all != nil) {
			t.Errorf("%s: %s %q, %v; want %s", c.files, got, why, err, c.want)
		}
	}
}

// The decisive files are read before logs use up the limit.
func TestCollectOrder(t *testing.T) {
	huge := bytes.Repeat([]byte("x"), maxFile)
	logs := map[string][]byte{"a0": huge, "a1": huge, "a2": huge, "a3": huge, "one": []byte("1")}
	for _, c := range []struct {
		name, link, want string
	}{
		{name: rewardText, want: "map[reward:1]"},
		{link: "one", want: "map[reward:1]"},
		{link: "a0", want: "unusable reward: reward.txt is larger than 1048576 bytes"},
		{link: "..", want: "missing reward: neither reward.json nor reward.txt found"},
	} {
		s := files{logs: map[string][]byte{}, link: c.link}
		for name, content := range logs {
			s.logs[logsDir+"/"+name] = content
		}
		if c.name != "" {
			s.logs[logsDir+"/"+c.name] = logs["one"]
		}
		l, err := (&Run{}).collect(t.Context(), s, &graph.Work{Log: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		rewards, err := readRewards(l, "reward")
		got := fmt.Sprint(rewards)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// files is a session with files, and with reward.txt as a link unless that is "".
type files struct {
	backend.Session
	logs map[string][]byte
	link string
}

func (f files) List(context.Context, string, int) ([]string, error) {
	var names []string
	for name := range f.logs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

func (f files) Collect(_ context.Context, name string) (io.ReadCloser, error) {
	content, ok := f.logs[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (f files) Exec(_ context.Context, c backend.Command) (backend.Exit, error) {
	if f.link == "" || !strings.HasSuffix(c.Argv[len(c.Argv)-1], rewardText) {
		return backend.Exit{Code: 1}, nil
	}
	fmt.Fprintln(c.Output, f.link)
	return backend.Exit{}, nil
}

// tree is a task that makes a tree of empty files.
type tree []string

func (tr tree) Describe(_ context.Context, m *graph.Manifest) error {
	m.Strings("files", tr)
	return nil
}

func (tr tree) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var entries []cache.Entry
	for _, name := range tr {
		d, err := cache.PutBytes(ctx, w.Store, nil)
		if err != nil {
			return graph.Outcome{}, err
		}
		entries = append(entries, cache.Entry{Path: name, Digest: d})
	}
	built, err := cache.BuildTree(entries)
	if err == nil {
		err = built.Store(ctx, w.Store)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: tasks.TreeOutput, Digest: built.Root, Tree: true}}}, err
}

// TestBlame: that a script gives no verdict is a submission's doing if it gives one without it,
// and otherwise the machine's or the script's. A submission that had it killed gets no other run.
func TestBlame(t *testing.T) {
	killed := func(*fake.Call) (backend.Exit, error) { return backend.Exit{Code: killedStatus}, nil }
	silent := func(*fake.Call) (backend.Exit, error) { return backend.Exit{}, nil }
	troubled := func(c *fake.Call) (backend.Exit, error) {
		c.Files.Write(logsDir+"/"+rewardText, []byte("0"))
		c.Files.Write(logsDir+"/trouble", []byte("no network"))
		return backend.Exit{}, nil
	}
	judges := func(c *fake.Call) (backend.Exit, error) {
		c.Files.Write(logsDir+"/"+rewardText, []byte("1"))
		return backend.Exit{}, nil
	}
	type script = func(*fake.Call) (backend.Exit, error)
	for _, try := range []struct {
		name    string
		with    []script // its runs with the submission; the last one stays
		without script
		runs    int
		broken  string // its message
		class   verdict.Class
	}{
		{"judges", []script{judges}, nil, 1, "", verdict.Judged},
		{"killed by the submission", []script{killed, judges}, judges, 2, "", verdict.NoScore},
		{"killed always", []script{killed}, killed, 2, "the verifier was killed", ""},
		{"silent by the submission", []script{silent}, judges, 3, "", verdict.NoScore},
		{"silent always", []script{silent}, silent, 3, "missing reward", ""},
		{"silent once", []script{silent, judges}, nil, 2, "", verdict.Judged},
		{"trouble by the submission", []script{troubled}, judges, 3, "", verdict.NoScore},
		{"trouble of the machine", []script{troubled}, troubled, 3, "the verifier reports that its machine failed", ""},
		{"trouble that ended", []script{troubled, judges}, nil, 2, "", verdict.Judged},
	} {
		store, runs, with := cache.NewMemory(), 0, try.with
		box := fake.New(store, func(_ context.Context, c *fake.Call) (backend.Exit, error) {
			if !slices.Contains(c.Command.Argv, start) {
				return backend.Exit{Code: 1}, nil // it looks for rewards behind links
			}
			runs++
			if !slices.Contains(c.Files.Names(), submissionDir+"/app/main.py") {
				return try.without(c)
			}
			do := with[0]
			with = with[min(1, len(with)-1):]
			return do(c)
		})
		box.Can.Places = func(context.Context) error { return nil }
		g := graph.New()
		sub := g.Add(graph.Node{Addr: "submission", Kind: "submission", Task: tree{"app/main.py"}})
		run := g.Add(graph.Node{Addr: "verify", Kind: "verify",
			Task: &Run{Artifacts: []string{"/app"}, Reward: "reward", Backend: listing{box}, Identity: box.Identity, BrokenIf: []Rule{{File: "trouble", Pattern: "network"}}},
			Deps: []graph.Dep{{On: sub, As: FromSubmission, Outputs: []string{tasks.TreeOutput}}}})
		scored := g.Add(graph.Node{Addr: "score", Kind: "score", Task: &Score{Reward: "reward", Policy: verdict.AnyJudged},
			Deps: []graph.Dep{{On: run, As: From, Outputs: Outputs()}}, Kept: true})
		r, err := g.Execute(t.Context(), []graph.ID{scored}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if st := r.Status(run); (st.State == event.Broken) != (try.broken != "") || !strings.Contains(st.Message, try.broken) || runs != try.runs {
			t.Errorf("%s: %s: %s after %d runs", try.name, st.State, st.Message, runs)
		}
		for _, o := range r.Status(scored).Outputs {
			if o.Name != tasks.ResultOutput {
				continue
			}
			content, err := cache.ReadBlob(t.Context(), store, o.Digest, -1)
			var c verdict.Checkpoint
			if err == nil {
				err = json.Unmarshal(content, &c)
			}
			if err != nil || c.Class != try.class {
				t.Errorf("%s: class %s, %v", try.name, c.Class, err)
			}
		}
	}
}

// TestAddWorkdir: outside of images, a script has its working directory even if no artifact is there, as when it runs
// without the submission.
func TestAddWorkdir(t *testing.T) {
	for _, c := range []struct {
		workdir, artifacts, present string
		noImage                     bool
		want                        string // place of an empty directory
	}{
		{"/app", "/app/answer.txt", "", true, "/app"},
		{"/app", "/app/answer.txt", "", false, ""},
		{"/app", "/app/answer.txt", "/app/answer.txt", true, ""},
		{"/app", "/app", "", true, "/app"},
		{"/app", "/app", "/app", true, ""},
		{"/app", "/app/answer.txt /data", "/data", true, "/app"},
		{"/app", "/application", "", true, ""},
		{"/usr", "/app", "", true, ""},
		{"/tmp", "/tmp/answer.txt", "", true, ""},
		{"", "/app", "", true, ""},
	} {
		run := &Run{Workdir: c.workdir, Artifacts: strings.Fields(c.artifacts), NoImage: c.noImage}
		store := cache.NewMemory()
		var spec backend.Spec
		if err := run.addWorkdir(t.Context(), store, &spec, strings.Fields(c.present)); err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, place := range spec.Places {
			got += place.At
			err := cache.WalkTree(t.Context(), store, spec.Inputs[i].Tree, func(e cache.Entry) error {
				if e.Path != place.Path || !e.Dir {
					t.Errorf("%+v: it contains %+v", c, e)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if got != c.want {
			t.Errorf("%+v: placed at %q", c, got)
		}
	}
}

// listing is a backend whose sessions list the files of TestBlame's scripts.
type listing struct{ *fake.Backend }

func (l listing) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	s, err := l.Backend.Open(ctx, spec)
	return listed{s}, err
}

type listed struct{ backend.Session }

func (l listed) List(ctx context.Context, dir string, _ int) (names []string, err error) {
	for _, name := range []string{dir + "/" + rewardText, dir + "/trouble"} {
		if f, err := l.Collect(ctx, name); err == nil {
			f.Close()
			names = append(names, name)
		}
	}
	return names, nil
}
