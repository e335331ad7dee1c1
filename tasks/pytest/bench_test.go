package pytest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// bench is a Run on a fake backend with the inputs that it takes.
type bench struct {
	t     *testing.T
	store *cache.Memory
	box   *fake.Backend
	run   *Run
	trees map[string][]string // input -> "path=content", "path->target"
	saved string              // log of the last broken attempt

	lastKey []byte // of the seal
	early   bool   // pytest ends before it loads its plugins

	tests func(c *fake.Call) (backend.Exit, error) // replaces pytest; nil passes
	setup func(c *fake.Call) (backend.Exit, error)
	probe func(c *fake.Call) (backend.Exit, error) // replaces the query of the machine
	uvx   func(c *fake.Call) (backend.Exit, error) // replaces the preparation
}

func newBench(t *testing.T) *bench {
	s := &bench{t: t, store: cache.NewMemory(), trees: map[string][]string{"tests": {"test_cp.py=tests"}, "submission": {"kv.py=code"}}}
	s.box = fake.New(s.store, s.program)
	s.run = &Run{
		Checkpoint: "cp", Directory: "tests", Entry: "python kv.py", Backend: s.box, Identity: s.box.Identity, Environment: &Environments{},
		Pins: func(context.Context) ([]string, error) {
			return []string{"pytest==8.4.2", "pytest-timeout==2.4.0"}, nil
		},
		Timeout: 20 * time.Second,
	}
	return s
}

// program returns the kind of a command.
func (s *bench) program(_ context.Context, c *fake.Call) (backend.Exit, error) {
	argv := c.Command.Argv
	do := s.tests
	switch {
	case slices.Contains(argv, pluginName):
		key, err := c.Files.Read(keyPath)
		if err != nil {
			return backend.Exit{}, err
		}
		s.lastKey = key
		if !s.early {
			c.Files.Remove(keyPath) // as the plugin does
		}
		if do == nil {
			do = passing
		}
		exit, err := do(c)
		s.seal(c, key)
		return exit, err
	case argv[0] == "/bin/sh" && len(argv) > 3:
		do = s.probe
	case argv[0] == "/bin/sh":
		do = s.setup
	case argv[len(argv)-1] == "--version":
		do = s.uvx
	}
	if do == nil {
		return backend.Exit{}, nil
	}
	return do(c)
}

// seal acts like the plugin, unless the tests did.
func (s *bench) seal(c *fake.Call, key proof.Key) {
	proofs := map[string]string{}
	for _, file := range []string{stagesPath, jsonReportPath, ctrfPath} {
		if content, err := c.Files.Read(file); err == nil {
			proofs[path.Base(file)] = hex.EncodeToString(key.Of([]byte(path.Base(file)), []byte{0}, content))
		}
	}
	if seal, err := json.Marshal(proofs); err == nil && !slices.Contains(c.Files.Names(), sealPath) {
		c.Files.Write(sealPath, seal)
	}
}

func passing(c *fake.Call) (backend.Exit, error) {
	c.Command.Output.Write(collected(1))
	c.Files.Write(stagesPath, encode(0, one{id: "tests/test_cp.py::t"}))
	c.Files.Write(jsonReportPath, []byte(`{"tests":[]}`))
	c.Files.Write(ctrfPath, []byte(`{"results":{}}`))
	return backend.Exit{Seconds: 2}, nil
}

// tree is a task that makes a tree.
type tree struct{ files []string }

func (tr tree) Describe(_ context.Context, m *graph.Manifest) error {
	m.Strings("files", tr.files)
	return nil
}

func (tr tree) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var entries []cache.Entry
	for _, f := range tr.files {
		if name, target, ok := strings.Cut(f, "->"); ok {
			entries = append(entries, cache.Entry{Path: name, Link: target})
			continue
		}
		name, content, _ := strings.Cut(f, "=")
		d, err := cache.PutBytes(ctx, w.Store, []byte(content))
		if err != nil {
			return graph.Outcome{}, err
		}
		entries = append(entries, cache.Entry{Path: name, Digest: d})
	}
	built, err := cache.BuildTree(entries)
	if err == nil {
		err = built.Store(ctx, w.Store)
	}
	if err != nil {
		return graph.Outcome{}, err
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: "tree", Digest: built.Root, Tree: true}}}, nil
}

// execute runs the node, also when it ran before, and returns its status and
// outputs.
func (s *bench) execute() (*graph.Status, map[string]string) {
	s.t.Helper()
	return s.executeWith(s.t.Context(), graph.Retry{})
}

func (s *bench) executeWith(ctx context.Context, retry graph.Retry) (*graph.Status, map[string]string) {
	s.t.Helper()
	g := graph.New()
	names := []string{"tests", "submission"}
	for _, a := range s.run.Assets {
		names = append(names, "asset "+a.Name)
	}
	var deps []graph.Dep
	for _, name := range names {
		id := g.Add(graph.Node{Addr: name, Kind: name, Task: tree{s.trees[name]}})
		deps = append(deps, graph.Dep{On: id, As: name, Outputs: []string{"tree"}})
	}
	id := g.Add(graph.Node{Addr: "pytest:kv/cp/a", Kind: "pytest", Task: s.run, Deps: deps, Retry: retry})
	r, err := g.Execute(ctx, []graph.ID{id}, graph.Options{
		Store: s.store,
		Pools: map[string]int{graph.CPUPool: 1},
		Hooks: graph.Hooks{Force: func(n *graph.Node) bool { return n.Kind == "pytest" }, SaveLog: func(_ string, _ int, output []byte) { s.saved = string(output) }},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if s.box.Opens() != s.box.Closes() {
		s.t.Errorf("%d sessions were opened and %d closed", s.box.Opens(), s.box.Closes())
	}
	outputs := map[string]string{}
	for _, o := range r.Status(id).Outputs {
		b, err := cache.ReadBlob(context.Background(), s.store, o.Digest, -1)
		if err != nil {
			s.t.Fatal(err)
		}
		outputs[o.Name] = string(b)
	}
	return r.Status(id), outputs
}

// key returns the key that the run has now, and its manifest as text.
func (s *bench) key() (cache.Key, string) {
	s.t.Helper()
	g := graph.New()
	id := g.Add(graph.Node{Addr: "x", Kind: "pytest", Task: s.run})
	r, err := g.Execute(s.t.Context(), []graph.ID{id}, graph.Options{Store: s.store, Preview: graph.Preview{DryRun: true, Manifests: true}})
	if err != nil {
		s.t.Fatal(err)
	}
	fields, err := graph.DecodeManifest(r.Status(id).Manifest)
	if err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	labels := map[string]bool{}
	for _, f := range fields {
		fmt.Fprintf(&text, "%s: %s\n", f.Label, f.Value)
		if labels[f.Label] {
			s.t.Errorf("the label %q is duplicated", f.Label)
		}
		labels[f.Label] = true
	}
	return r.Status(id).Key, text.String()
}
