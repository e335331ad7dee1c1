package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// full is a sandbox whose directories are full.
type full struct{ backend.Sandbox }

func (full) Run(context.Context, ...backend.Program) ([]backend.Ending, error) {
	return nil, fmt.Errorf("running: %w", backend.ErrNoRoom)
}

// given is a task that has its outputs.
type given map[string][]byte

func (given) Describe(context.Context, *graph.Manifest) error { return nil }

func (g given) Run(ctx context.Context, w *graph.Work) (o graph.Outcome, err error) {
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	for name, content := range g {
		k.Keep(name, content)
	}
	return k.Outcome, k.Err
}

// Output that exceeds the room of a checker is too much output, and does not cause a broken verdict. Files of
// the problem that do not fit are an error of the problem.
func TestNoRoomForOutput(t *testing.T) {
	check := func(printed int) (*graph.Status, Verdict) {
		store := cache.NewMemory()
		made := graph.New()
		all := given{
			OutputExit: []byte(`{"status":"` + string(backend.Exited) + `"}`), OutputStdout: bytes.Repeat([]byte("1"), printed),
			OutputProgram: nil, OutputIn: nil, OutputAns: nil,
		}
		on := made.Add(graph.Node{Addr: "given", Kind: "given", Task: all})
		box := &Box{Sandbox: full{}, Ident: func(context.Context) (backend.Identity, error) { return nil, nil }}
		id := made.Add(graph.Node{Addr: "check", Kind: "check", Task: &Check{Box: box}, Deps: []graph.Dep{
			{On: on, As: FromRun, Outputs: []string{OutputExit, OutputStdout}},
			{On: on, As: FromTool, Outputs: []string{OutputProgram}},
			{On: on, As: FromTestData, Outputs: []string{OutputIn, OutputAns}},
		}})
		r, err := made.Execute(t.Context(), []graph.ID{id}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
		if err != nil {
			t.Fatal(err)
		}
		var v Verdict
		for _, o := range r.Status(id).Outputs {
			if o.Name != OutputVerdict {
				continue
			}
			content, err := cache.ReadBlob(t.Context(), store, o.Digest, -1)
			if err == nil {
				err = json.Unmarshal(content, &v)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return r.Status(id), v
	}
	if st, v := check(2 << 20); st.State != event.Done || v.Verdict != OutputLimit || *v.Ratio != 0 {
		t.Errorf("much output: %+v, %+v", st, v)
	}
	if st, _ := check(2); st.State != event.Failed {
		t.Errorf("little output: %+v", st)
	}
}
