package verifier

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// A submission without any artifact is refused, and so are links that lead out of theirs.
func TestPresent(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"app/main.py data/x", "[/app /data]"},
		{"app/main.py", "[/app]"},
		{"app/main.py logs/artifacts/x", "[/app /logs/artifacts]"},
		{"app/main.py app/d/l->../main.py other->/tests", "[/app]"},
		{"app/l->gone", "[/app]"},
		{"data->app app/main.py", "[/app]"},
		{"other", "the solution has none of the artifacts: /app, /data"},
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
		all, why, err := (&Run{Artifacts: []string{"/app", "/data"}}).present(t.Context(), store, tree.Root)
		if got := fmt.Sprint(all); err != nil || got != c.want && (why != c.want || all != nil) {
			t.Errorf("%s: %s %q, %v; want %s", c.files, got, why, err, c.want)
		}
	}
}

// What decides is read before logs take its room.
func TestCollectOrder(t *testing.T) {
	huge := bytes.Repeat([]byte("x"), maxFile)
	logs := map[string][]byte{"a0": huge, "a1": huge, "a2": huge, "a3": huge, "one": []byte("1")}
	for _, c := range []struct {
		name, link, want string
	}{
		{name: rewardText, want: "map[reward:1]"},
		{link: "one", want: "map[reward:1]"},
		{link: "a0", want: "unusable reward: reward.txt is larger than 1048576 bytes"},
		{link: "..", want: "missing reward: there is neither reward.json nor reward.txt"},
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
