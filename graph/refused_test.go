package graph

import (
	"context"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// judging is a step that makes an output of a refusal.
type judging struct{ step }

func (j *judging) Refused(ctx context.Context, w *Work, why string) (Outcome, error) {
	return out(ctx, w, "0: "+why)
}

// A refused source prevents work of its dependents, up to the judging node, and is healed and served like any other.
func TestRefused(t *testing.T) {
	why := "no file"
	source := &step{
		describe: func(m *Manifest) error {
			m.String(map[bool]string{true: "file code", false: RefusedOutput}[why == ""], why)
			return nil
		},
		work: func(ctx context.Context, w *Work) (Outcome, error) {
			if why == "" {
				return out(ctx, w, "code")
			}
			d, err := cache.PutBytes(ctx, w.Store, []byte(why))
			return Outcome{Outputs: []cache.Output{{Name: RefusedOutput, Digest: d}}}, err
		},
	}
	compile, run, score, sum := join(nil), join(nil), &judging{step{work: join(nil).work}}, join(nil)
	score.describe = func(m *Manifest) error { m.String("addr", "score"); return nil }
	other := "other"
	g := New()
	a := add(g, "source", source)
	b := add(g, "compile", compile, a)
	c := add(g, "run", run, add(g, "other", leaf(&other)), b)
	d := add(g, "score", score, c)
	e := add(g, "sum", sum, d)
	store := newLossy()
	p := &project{t: t, store: store, lock: store.Memory, last: lasts{}}

	r := p.execute(g)
	if st := r.Status(c); st.State != event.Done || !Refused(st.Outputs) || st.Message != why || compile.ran.Load()+run.ran.Load()+score.ran.Load() > 0 {
		t.Errorf("%+v; work was done for what is refused", st)
	}
	if got := p.content(r, e); got != "0: no file" {
		t.Errorf("judged as %q", got)
	}
	if r = p.execute(g); r.Status(e).State != event.Cached || r.Executed > 0 {
		t.Errorf("a refusal is not served: %+v", r)
	}

	store.lose(r.Status(a))
	score.describe = func(m *Manifest) error { m.String("addr", "another score"); return nil }
	if r = p.execute(g); p.content(r, e) != "0: no file" || r.Broken > 0 {
		t.Errorf("a reason that was lost is not found again: %+v", r)
	}
	kept := r.Status(d).Key

	why = "another"
	if r = p.execute(g); p.content(r, e) != "0: another" || r.Status(d).Key == kept {
		t.Errorf("judged as %q by the reason before", p.content(r, e))
	}
	why = ""
	if r = p.execute(g); p.content(r, e) != "other+code" || r.Status(b).Cause != "source: no longer refused" {
		t.Errorf("fixed, judged as %q, %q", p.content(r, e), r.Status(b).Cause)
	}
	why = "no file"
	if r = p.execute(g); r.Status(d).Key != kept || !slices.Equal(r.Status(b).Outputs, r.Status(a).Outputs) {
		t.Errorf("refused again, and not the same: %+v", r.Status(d))
	}
}
