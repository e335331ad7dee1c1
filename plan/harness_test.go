package plan

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/compat/frontier/rules"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
)

// project is a configuration on disk, compiled onto fake backends.
type project struct {
	t     *testing.T
	dir   string
	store *cache.Memory
	plan  *Plan
	boxes map[string]*box
	// sandbox runs the programs of judge problems; can be nil.
	sandbox *fake.Sandbox
}

// files of the projects below: two checkpoints and two solutions; "half" solves only the first.
const files = `
-- tests/conftest.py --
-- tests/test_a.py --
-- tests/test_b.py --
-- data/x.txt --
-- good/a/kv.py --
a
-- good/b/kv.py --
a b
-- half/a/kv.py --
a
-- half/b/kv.py --
a, but not the other
`

const problem = `
problem "kv" {
  entry = "python kv.py"
  tags  = ["cli"]
  pytest { root = "tests" }
  asset "data" { source = "data" }
  marker "slow" { group = "functionality" }
  checkpoint "a" {}
  checkpoint "b" {}
}

solution "good" {
  problem = problem.kv
  source  = "good/${checkpoint.name}"
  labels  = { size = "large" }
}

solution "half" {
  problem = problem.kv
  source  = "half/${checkpoint.name}"
}

backend "local" "one" {}
`

func newProject(t *testing.T, config string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir(), store: cache.NewMemory(), boxes: map[string]*box{}}
	for _, f := range txtar.Parse([]byte(files)).Files {
		p.write(f.Name, string(f.Data))
	}
	p.write("fevalgraph.hcl", config)
	p.compile()
	return p
}

func (p *project) write(name, content string) {
	p.t.Helper()
	at := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) compile() {
	p.t.Helper()
	cfg, findings := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: p.dir}, Extensions: lang.Extensions{Kinds: []lang.BackendKind{{Schema: lang.BlockSchema{Name: "gojudge"}, NoCommands: "It judges"}}}})
	if findings.HasErrors() {
		for _, f := range findings {
			p.t.Errorf("%+v", f)
		}
		p.t.FailNow()
	}
	var err error
	if p.plan, err = Compile(cfg, 2, p.environment()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) environment() Environment {
	return Environment{
		Store: p.store, States: read{}, Benchmarks: []Benchmark{{Name: "frontier", Judge: rules.Judge{}, Score: rules.Runner{}}},
		Executor: func(b *lang.Backend, _ []string) (Executor, error) {
			if p.sandbox != nil && b.Kind == "gojudge" {
				return Executor{Sandbox: p.sandbox}, nil
			}
			if p.boxes[b.Addr()] == nil {
				p.boxes[b.Addr()] = newBox(p.store)
			}
			return Executor{Backend: p.boxes[b.Addr()]}, nil
		},
		Tools: func(b *lang.Backend) []string { return []string{"UV_CACHE_DIR=/cache of " + b.Kind + "/uv"} },
		LookupEnv: func(name string) (string, bool) {
			return map[string]string{"HOME": "/home/me", "LANG": "C"}[name], name == "HOME"
		},
		Pins: func(context.Context, backend.Backend, []string, []string) ([]string, error) {
			return []string{"pytest==8.4.2"}, nil
		},
	}
}

type read struct{}

func (read) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	b, err := os.ReadFile(path)
	return cache.SumBytes(b), err
}

// box is a fake backend whose pytest passes the tests of a checkpoint when the
// submission's kv.py names it. Other words in there do other things.
type box struct {
	*fake.Backend
	mu     sync.Mutex
	tested []string        // executed nodes, by address
	hold   <-chan struct{} // tests of checkpoint b wait for it; nil means no wait
}

func (b *box) Platform(context.Context) (string, error) { return "linux/amd64", nil }

func (b *box) Interpreter(context.Context) (path, version string, err error) {
	return "/usr/bin/python3", "CPython 3.12.1", nil
}

func newBox(store cache.Store) *box {
	b := &box{}
	b.Backend = fake.New(store, func(ctx context.Context, c *fake.Call) (backend.Exit, error) {
		argv := c.Command.Argv
		if !slices.Contains(argv, "fevalgraph_seal") {
			return backend.Exit{}, nil
		}
		b.mu.Lock()
		b.tested = append(b.tested, c.Spec.Name)
		b.mu.Unlock()
		if b.hold != nil && strings.HasPrefix(c.Spec.Name, "pytest:kv/b/") {
			<-b.hold
		}
		return fakePytest(c)
	})
	b.Can.Python = b
	return b
}

func fakePytest(c *fake.Call) (backend.Exit, error) {
	code, err := c.Files.Read("kv.py")
	if err != nil {
		return backend.Exit{}, err
	}
	words := strings.Fields(string(code))
	switch {
	case slices.Contains(words, "unplug"):
		return backend.Exit{}, errors.New("cable cut")
	case slices.Contains(words, "hang"):
		return backend.Exit{Code: -1, Signal: "killed", TimedOut: true}, nil
	case slices.Contains(words, "exit"):
		return backend.Exit{}, nil
	}
	exit := backend.Exit{Seconds: 1.5}
	var stages bytes.Buffer
	tests := 0
	for _, name := range c.Files.Names() {
		checkpoint, ok := strings.CutPrefix(name, "tests/test_")
		if !ok {
			continue
		}
		tests++
		called := `"passed"`
		if !slices.Contains(words, strings.TrimSuffix(checkpoint, ".py")) {
			called = `"failed", "message": "assert False"`
			exit.Code = 1
		}
		for _, stage := range [][2]string{{"setup", `"passed"`}, {"call", called}, {"teardown", `"passed"`}} {
			fmt.Fprintf(&stages, `{"nodeid": "%s::test", "stage": %q, "seconds": 0.5, "outcome": %s}`+"\n", name, stage[0], stage[1])
		}
	}
	fmt.Fprintf(&stages, `{"end": {"exit": %d, "collected": %d}}`, exit.Code, tests)
	key, err := c.Files.Read(".scbench/key")
	if err != nil {
		return exit, err
	}
	c.Files.Write(".scbench/stages", stages.Bytes())
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "stages\x00%s", &stages)
	c.Files.Write(".scbench/seal", fmt.Appendf(nil, `{"stages": "%x"}`, mac.Sum(nil)))
	fmt.Fprintf(c.Command.Output, "collected %d items\n", tests)
	return exit, nil
}

// execute runs the whole graph, or, with targets, a part of it.
func (p *project) execute(ctx context.Context, o graph.Options, targets ...graph.ID) (*graph.Report, *report.Results) {
	p.t.Helper()
	if targets == nil {
		for id := range graph.ID(p.plan.Graph.Len()) {
			targets = append(targets, id)
		}
	}
	o.Store, o.Locker, o.Run, o.Pools = p.store, p.store, "run1", p.plan.Pools
	r, err := p.plan.Graph.Execute(ctx, targets, o)
	if err != nil {
		p.t.Fatal(err)
	}
	asked := func(id graph.ID) bool { return slices.Contains(r.Nodes, id) }
	cells, err := p.plan.Results(context.Background(), p.store, r, asked, p.plan.Cells)
	if err != nil {
		p.t.Fatal(err)
	}
	return r, &report.Results{Schema: report.Schema, Run: "run1", Cells: cells}
}
