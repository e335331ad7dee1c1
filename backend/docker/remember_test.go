package docker

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
)

// probed answers a probe.
func (f *fakeDaemon) probed() http.HandlerFunc {
	return f.runs(func(_ context.Context, c backend.Command) (backend.Exit, error) {
		answers := map[string]string{programPath: `{"UID":7,"GID":8,"Limits":{"nofile":2048}}`, "uv": "/usr/bin/python3\n", "/usr/bin/python3": "CPython 3.11.2\n"}
		_, err := io.WriteString(c.Output, answers[c.Argv[0]])
		return backend.Exit{}, err
	})
}

func TestRemember(t *testing.T) {
	f := newFakeDaemon(t)
	f.on["POST /containers/x/attach"] = f.probed()
	f.on["GET /info"] = says200(map[string]any{"ID": "daemon", "ServerVersion": "20.10"})
	dir := filepath.Join(t.TempDir(), "images")
	probes := func(change func(o *Options)) int {
		t.Helper()
		b, _ := f.backend()
		b.facts, b.opt.Facts = nil, dir
		change(&b.opt)
		before := strings.Count(f.called(), "/create")
		if _, version, err := b.Interpreter(t.Context()); err != nil || version != "CPython 3.11.2" {
			t.Fatalf("got %q, %v", version, err)
		}
		if b.facts.uid != 7 || b.facts.gid != 8 || b.facts.limits["nofile"] != 2048 {
			t.Errorf("facts are %+v", b.facts)
		}
		return strings.Count(f.called(), "/create") - before
	}
	same := func(*Options) {}
	if n := probes(func(o *Options) { o.FactsReadOnly = true }); n != 1 {
		t.Errorf("%d probes at first", n)
	}
	for i, want := range []int{1, 0, 0} { // it was not to be written before
		if n := probes(same); n != want {
			t.Errorf("%d probes, time %d", n, i)
		}
	}
	for name, change := range map[string]func(o *Options){
		"user":    func(o *Options) { o.User = "7:8" },
		"python":  func(o *Options) { o.Python = "3.12" },
		"env":     func(o *Options) { o.Env = []string{"PATH=/opt"} },
		"nothing": func(o *Options) { o.Facts = "" },
	} {
		if n := probes(change); n != 1 {
			t.Errorf("%s: %d probes", name, n)
		}
	}
	for name, answer := range map[string]map[string]any{
		"another image": {"Id": "sha256:2", "Os": "linux", "Architecture": "amd64"},
	} {
		f.on["GET /images/img/json"] = says200(answer)
		if n := probes(same); n != 1 {
			t.Errorf("%s: %d probes", name, n)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("remembered %q, %v", files, err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"torn":           func([]byte) []byte { return []byte(`{"Version":`) },
		"another number": func(b []byte) []byte { return bytes.Replace(b, []byte("3.11.2"), []byte("3.11.3"), 1) },
	} {
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, damage(content), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if n := probes(same); n != 1 {
			t.Errorf("%s: %d probes", name, n)
		}
	}
}

// The lacking programs of a container that did not end are unknown.
func TestProbeEndsEarly(t *testing.T) {
	for _, test := range []struct {
		name  string
		state map[string]any
		want  string
	}{
		{"it is killed", map[string]any{"ExitCode": 137}, "the container was ended from outside (status 137)"},
		{"memory", map[string]any{"ExitCode": 137, "OOMKilled": true}, "it ran out of memory before it answered"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeDaemon(t)
			b, _ := f.backend()
			b.facts, b.opt.Facts = nil, filepath.Join(t.TempDir(), "images")
			f.on["GET /info"] = says200(map[string]any{"ID": "daemon", "ServerVersion": "20.10"})
			f.on["POST /containers/x/attach"] = f.runs(func(context.Context, backend.Command) (backend.Exit, error) {
				f.end()
				return backend.Exit{}, nil
			})
			f.on["GET /containers/x/json"] = says200(map[string]any{"State": test.state})
			if _, err := b.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), "inspecting image img: "+test.want) {
				t.Errorf("got %v", err)
			}
			if files, _ := os.ReadDir(b.opt.Facts); len(files) > 0 {
				t.Errorf("remembered %v", files)
			}
		})
	}
}
