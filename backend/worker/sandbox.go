package worker

import (
	"context"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Sandbox returns the sandbox of the server. The outputs of its programs are in the client's store.
func (c *Client) Sandbox() backend.Sandbox { return remoteSandbox{c} }

type remoteSandbox struct{ *Client }

// Identity implements backend.Sandbox.
func (s remoteSandbox) Identity(ctx context.Context) (backend.Identity, error) {
	f, err := s.fact(ctx, facts.Sandbox)
	return f.Identity, err
}

// Run implements backend.Sandbox.
func (s remoteSandbox) Run(ctx context.Context, programs ...backend.Program) ([]backend.Ending, error) {
	var needs []cache.Output
	for _, p := range programs {
		if !p.Stdin.IsZero() {
			needs = append(needs, cache.Output{Digest: p.Stdin})
		}
		for _, f := range p.Files {
			if !f.Digest.IsZero() {
				needs = append(needs, cache.Output{Digest: f.Digest})
			}
		}
	}
	var a runAnswer
	err := s.withBlobs(ctx, needs, func() error {
		a = runAnswer{}
		return s.ask(ctx, pathPrograms, programs, &a)
	})
	if err != nil {
		return nil, err
	}
	for _, blob := range a.Blobs {
		if _, err := cache.PutBytes(ctx, s.store, blob); err != nil {
			return nil, err
		}
	}
	for d := range outputs(a.Endings) {
		if err := s.fetch(ctx, d); err != nil {
			return nil, err
		}
	}
	for d := range outputs(a.Endings) {
		s.sender.Has(cache.Output{Digest: d}) // the output of a compiler is the next program
	}
	return a.Endings, nil
}
