package remote

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Sandbox returns the backend as a sandbox: its programs run in go-judge, which is an input of
// the actions.
func (b *Backend) Sandbox() backend.Sandbox { return sandbox{b} }

type sandbox struct{ b *Backend }

// Identity implements backend.Sandbox.
func (s sandbox) Identity(ctx context.Context) (backend.Identity, error) {
	return s.b.identity(ctx, facts.Sandbox)
}

// Run implements backend.Sandbox.
func (s sandbox) Run(ctx context.Context, programs ...backend.Program) ([]backend.Ending, error) {
	if err := s.b.begin(ctx); err != nil {
		return nil, err
	}
	w := &actionSpec{name: "programs", expects: true, judge: true, task: wire.Task{Programs: programs}}
	for d := range wire.FilesOf(programs) {
		w.entries = append(w.entries, cache.Entry{Path: wire.FilesDir + "/" + d.Hex(), Digest: d})
		w.needs = append(w.needs, cache.Output{Digest: d})
	}
	for _, p := range programs {
		w.limit = max(w.limit, p.Limits.Clock, p.Limits.CPU, time.Second)
	}
	r, err := s.b.perform(ctx, w)
	if err != nil {
		return nil, err
	}
	return r.Endings, s.keep(ctx, r)
}

// keep adds the outputs of programs to the store.
func (s sandbox) keep(ctx context.Context, r *wire.Result) error {
	there := map[cache.Digest]bool{}
	for _, blob := range r.Blobs {
		d, err := cache.PutBytes(ctx, s.b.opt.Store, blob)
		if err != nil {
			return err
		}
		there[d] = true
	}
	for _, d := range wire.LeftBy(r.Endings) {
		if there[d] {
			continue
		}
		text, err := s.b.blob(ctx, d)
		if err == nil {
			_, err = cache.PutBytes(ctx, s.b.opt.Store, text)
		}
		if err != nil {
			return err
		}
		s.b.opt.Sender.Has(cache.Output{Digest: d}) // the output of a compiler is the next program
	}
	return nil
}
