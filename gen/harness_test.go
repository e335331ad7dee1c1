package gen

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/gen/keypool"
	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// project is the project of a generating test.
type project struct {
	t      *testing.T
	dir    string
	store  cache.Store
	events []event.Event
	force  func(*graph.Node) bool
}

func (p *project) Emit(e event.Event) { p.events = append(p.events, e) }

func newProject(t *testing.T) *project {
	return &project{t: t, dir: t.TempDir(), store: cache.NewMemory()}
}

// problem has checkpoints whose task texts are files.
func (p *project) problem(name string, specs ...string) *lang.Problem {
	p.t.Helper()
	made := &lang.Problem{Name: name, Ref: "problem." + name, Entry: "python main.py", Pytest: &lang.Pytest{}}
	for i, text := range specs {
		spec := filepath.Join(p.dir, fmt.Sprintf("%s-%d.md", name, i+1))
		if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
		made.Checkpoints = append(made.Checkpoints, &lang.Checkpoint{Name: fmt.Sprintf("c%d", i+1), Order: i + 1, Spec: spec})
	}
	return made
}

// generator sends prompts to a server in memory, with some keys.
func (p *project) generator(transport http.RoundTripper, keys int, problems ...*lang.Problem) *Generator {
	block := &lang.Generator{Name: "small", Ref: "generator.small", Problems: problems, Endpoint: "http://model/v1", Model: "small", Attempts: 1, AtOnce: 60,
		Directory: filepath.Join(p.dir, "generated", "small"), Retry: lang.Retry{Attempts: 5, Wait: 2 * time.Second}, Price: &lang.Price{Input: 1, Output: 1000}}
	var all []keypool.Key
	for i := range keys {
		all = append(all, keypool.Key{Name: fmt.Sprintf("secret.k%d", i), Value: fmt.Sprintf("sk-secret-%d", i)})
	}
	return &Generator{Generator: block, Who: []Field{{"endpoint", block.Endpoint}}, Budget: &Budget{},
		Keys:  keypool.New(all, keypool.Limits{Concurrency: block.AtOnce}),
		Model: model.NewHTTP(model.HTTPOptions{Endpoint: block.Endpoint, Model: "small", Timeout: 5 * time.Minute, Transport: transport})}
}

// run generates everything, and writes the files.
func (p *project) run(ctx context.Context, b *Batch) (*graph.Report, []Placed) {
	p.t.Helper()
	var targets []graph.ID
	for _, s := range b.Steps {
		targets = append(targets, s.Files)
	}
	p.events = nil
	rep, err := b.Graph.Execute(ctx, targets, graph.Options{
		Store: p.store,
		Sink:  p,
		Hooks: graph.Hooks{Force: p.force},
		Pools: map[string]int{graph.CPUPool: 4, "generator.small": 512},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	placed, err := b.Place(context.WithoutCancel(ctx), rep, p.store)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range p.events {
		if text := fmt.Sprintf("%+v", e); strings.Contains(text, "sk-secret") {
			p.t.Errorf("an event shows a key: %s", text)
			break
		}
	}
	return rep, placed
}

// outcomes returns the outcomes of the steps, in order.
func outcomes(placed []Placed) string {
	var all []string
	for _, p := range placed {
		all = append(all, string(p.Outcome))
	}
	return strings.Join(all, ", ")
}

// files returns the files of a directory, as path=content.
func (p *project) files(dir string) string {
	p.t.Helper()
	var all []string
	err := filepath.WalkDir(filepath.Join(p.dir, dir), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, recordEnding) {
			return err
		}
		content, err := os.ReadFile(path)
		rel, _ := filepath.Rel(filepath.Join(p.dir, dir), path)
		all = append(all, filepath.ToSlash(rel)+"="+strings.TrimSpace(string(content)))
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
