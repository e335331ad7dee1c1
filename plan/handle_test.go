package plan

import (
	"context"
	"reflect"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// askedBox counts queries of its identity.
type askedBox struct {
	*box
	asked *int
}

func (b askedBox) Identity(context.Context) (backend.Identity, error) {
	*b.asked++
	return backend.Identity{{Label: "platform", Value: "a box"}}, nil
}

// A plan reuses the nodes of an equal block, with their known state.
func TestRehydratedIsNotAskedAgain(t *testing.T) {
	p := newProject(t, problem)
	made, asked := 0, 0
	env := p.environment()
	env.Executor = func(*lang.Backend, []string) (Executor, error) {
		made++
		return Executor{Backend: askedBox{newBox(p.store), &asked}}, nil
	}
	block := *p.plan.Config.Backends[0]
	block.Env = append([]lang.EnvVar(nil), block.Env...) // equal, and another
	rehydrated, err := Rehydrate(&block, Use{Python: true}, env)
	if err != nil {
		t.Fatal(err)
	}
	before, err := rehydrated.Fingerprint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]struct {
		block func(b *lang.Backend)
		asked int
	}{
		"the same":       {func(*lang.Backend) {}, 0},
		"another python": {func(b *lang.Backend) { b.Python = "3.9" }, 1},
		"another program": {func(b *lang.Backend) {
			b.Attributes = lang.NewAttributes(&lang.LocalAttributes{Versions: []string{"go version"}})
		}, 1},
	} {
		made, asked = 0, 0
		p := newProject(t, problem)
		try.block(p.plan.Config.Backends[0])
		env.Rehydrated = []*BackendHandle{rehydrated}
		if p.plan, err = Compile(p.plan.Config, 2, env); err != nil {
			t.Fatal(err)
		}
		r, _ := p.execute(t.Context(), graph.Options{})
		if made != try.asked || asked != try.asked {
			t.Errorf("%s: created %d times and queried %d times, want %d", name, made, asked, try.asked)
		}
		handles := p.plan.Backends(r)
		if len(handles) != 1 || !handles[0].Use.Python || handles[0].Block != p.plan.Config.Backends[0] {
			t.Fatalf("%s: the plan has %+v", name, handles)
		}
		after, err := handles[0].Fingerprint(t.Context())
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: fingerprint %+v before and %+v after, %v", name, before, after, err)
		}
	}
}

// A backend with a built image can have another one once it is built again.
func TestRehydratedServes(t *testing.T) {
	image := func() *lang.Backend {
		return &lang.Backend{Kind: "docker", Name: "d", Container: &lang.Container{Image: "python"}}
	}
	other := func() *lang.Backend {
		return &lang.Backend{Kind: "docker", Name: "d", Container: &lang.Container{Image: "python:3.9"}}
	}
	build := func() *lang.Backend {
		return &lang.Backend{Kind: "docker", Name: "d", Container: &lang.Container{Build: &lang.ImageBuild{Dockerfile: "/d"}}}
	}
	for name, try := range map[string]struct {
		block     *lang.Backend
		like      *lang.Backend
		takenOver bool
	}{
		"an image":              {image(), image(), true},
		"another image":         {image(), other(), false},
		"an image that is made": {build(), build(), false},
	} {
		if got := (&BackendHandle{Block: try.block}).serves(try.like, Use{}); got != try.takenOver {
			t.Errorf("%s: taken over: %v", name, got)
		}
	}
}
