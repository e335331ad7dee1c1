package graph

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// thing is a step whose output names something outside of the store.
type thing struct {
	step
	there map[cache.Digest]bool
	err   error
	asked int
}

func (g *thing) Validate(_ context.Context, outputs []cache.Output) (string, error) {
	g.asked++
	if g.err != nil || g.there[outputs[0].Digest] {
		return "", g.err
	}
	return "the thing is gone", nil
}

// newThing returns a thing that exists after it was created.
func newThing(value *string) *thing {
	made := &thing{there: map[cache.Digest]bool{}}
	made.step = step{
		describe: func(m *Manifest) error { m.String("value", *value); return nil },
		work: func(ctx context.Context, w *Work) (Outcome, error) {
			o, err := out(ctx, w, *value)
			made.there[o.Outputs[0].Digest] = true
			return o, err
		},
	}
	return made
}

func TestLostThingIsMadeAgain(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	made, user := newThing(&value), join(nil)
	add(g, "user", user, add(g, "thing", made))
	wantStates(t, g, p.execute(g), "thing done", "user done")
	wantStates(t, g, p.execute(g), "thing cached", "user cached")
	if made.asked != 1 {
		t.Errorf("%d validations of one stored answer", made.asked)
	}

	clear(made.there)
	r := p.plan(g)
	wantStates(t, g, r, "thing stale", "user stale")
	if st := r.Status(0); st.Cause != "the thing is gone" || st.Category != "lost" || st.New {
		t.Errorf("thing: %+v", st)
	}
	if st := r.Status(1); st.Category != "follows" {
		t.Errorf("user: %+v", st)
	}
	r = p.execute(g)
	wantStates(t, g, r, "thing done", "user cached") // the same thing
	if st := r.Status(0); st.Cause != "the thing is gone" {
		t.Errorf("thing: %+v", st)
	}
	wantStates(t, g, p.execute(g), "thing cached", "user cached")
	if made.ran.Load() != 2 || user.ran.Load() != 1 {
		t.Errorf("ran %d and %d times", made.ran.Load(), user.ran.Load())
	}
}

// The record of another project for a thing that is gone does not count.
func TestLostThingOfRecord(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	made := newThing(&value)
	add(g, "thing", made)
	p.execute(g)
	clear(p.last)
	wantStates(t, g, p.execute(g), "thing cached")
	clear(p.last)
	clear(made.there)
	wantStates(t, g, p.execute(g), "thing done")
}

// An answer that cannot be validated is neither served nor produced again.
func TestThingOfUnknownState(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	made, user := newThing(&value), join(nil)
	add(g, "user", user, add(g, "thing", made))
	p.execute(g)
	made.err = errors.New("no answer")
	r := p.execute(g)
	wantStates(t, g, r, "thing broken", "user blocked")
	if got := r.Status(0).Message; got != "no answer" {
		t.Errorf("message %q", got)
	}
	made.err = nil
	wantStates(t, g, p.execute(g), "thing cached", "user cached")
	if made.ran.Load() != 1 {
		t.Errorf("it ran %d times", made.ran.Load())
	}
}

// A worker that waited for another one's answer validates it.
func TestLostThingOfAnotherWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		g, value := New(), "x"
		made := newThing(&value)
		add(g, "thing", made)
		key := p.plan(g).Status(0).Key
		release, ok, err := p.lock.Lock(t.Context(), key)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		o := p.options()
		o.LockPoll = time.Millisecond
		go func() {
			time.Sleep(20 * time.Millisecond)
			d, _ := cache.PutBytes(context.Background(), p.store, []byte(value))
			_ = p.store.PutRecord(context.Background(), key, &cache.Record{Class: cache.ClassDone, Outputs: []cache.Output{{Name: "out", Digest: d}}})
			release()
		}()
		wantStates(t, g, p.executeWith(t.Context(), g, o), "thing done")
	})
}

func TestForcedWorkKnowsIt(t *testing.T) {
	p := newProject(t)
	g := New()
	var forced []bool
	add(g, "a", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		forced = append(forced, w.Forced)
		return out(ctx, w, "a")
	}})
	p.execute(g)
	o := p.options()
	o.Force = func(*Node) bool { return true }
	p.executeWith(t.Context(), g, o)
	if len(forced) != 2 || forced[0] || !forced[1] {
		t.Errorf("forced: %v", forced)
	}
}
