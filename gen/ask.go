package gen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/gen/keypool"
	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/graph"
)

// asking is the task that sends a request. Its key is the request.
type asking struct {
	g       *Generator
	attempt int
}

// ended is the stored record of how an answer ended.
type ended struct {
	Finish string `json:"finish"`
	model.Usage
}

// Describe implements graph.Task. The prompt is a dependency.
func (a *asking) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	for _, f := range a.g.Who {
		m.String(f.Label, f.Value)
	}
	m.String("model", a.g.Generator.Model)
	m.String("system", a.g.System)
	m.String("parameters", a.g.Parameters)
	m.Int("attempt", int64(a.attempt))
	return nil
}

// Run implements graph.Task. The engine retries an error that can be temporary. A key that is throttled or
// refused is not a failed attempt: the next key gets the request.
func (a *asking) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	prompt, err := input(ctx, w, fromPrompt, promptOutput, maxPrompt)
	if err != nil {
		return graph.Outcome{}, err
	}
	estimate := a.g.cost(a.g.estimate(len(prompt)))
	if err := a.g.Budget.reserve(estimate); err != nil {
		return graph.Outcome{}, &graph.AbsentError{Err: err}
	}
	said, err := a.ask(ctx, w, model.Question{System: a.g.System, Prompt: string(prompt)})
	a.g.Budget.spend(estimate, a.g.cost(said.Usage))
	if err != nil {
		return graph.Outcome{}, err
	}
	a.g.answered(said.Usage)
	// The answer has been paid for: it is kept even if the call was interrupted meanwhile.
	return store(context.WithoutCancel(ctx), w.Store, said)
}

// ask sends a request with one key after the other until it is answered.
func (a *asking) ask(ctx context.Context, w *graph.Work, q model.Question) (model.Answer, error) {
	for {
		if err := a.g.givenUp(); err != nil {
			return model.Answer{}, err
		}
		lease, err := a.g.Keys.Take(ctx)
		var none *keypool.NoKeysError
		if errors.As(err, &none) {
			err = &graph.InputError{Err: fmt.Errorf("%s: %w", a.g.Ref, none)}
			a.g.giveUp(err)
		}
		if err != nil {
			return model.Answer{}, err
		}
		if err := a.g.givenUp(); err != nil { // meanwhile
			lease.Failed()
			return model.Answer{}, err
		}
		said, err := a.g.Model.Ask(ctx, lease.Key(), q)
		var throttled *model.ThrottledError
		var refused *model.RefusedError
		var wrong *model.WrongError
		note := ""
		switch {
		case err == nil:
			lease.Done()
			return said, nil
		case errors.As(err, &throttled):
			note = lease.Throttled(throttled.After, throttled.Reason)
		case errors.As(err, &refused):
			note = lease.Refused(refused.Reason)
		case errors.As(err, &wrong):
			err = &graph.InputError{Err: fmt.Errorf("%s: %w", a.g.Ref, wrong)}
			if !wrong.Maybe || a.g.rejects() {
				a.g.giveUp(err)
			}
			lease.Failed() // which lets the next request begin
			return model.Answer{}, err
		default:
			lease.Failed()
			return model.Answer{}, err
		}
		if note != "" {
			w.Note(note)
		}
	}
}

func store(ctx context.Context, s cache.Store, said model.Answer) (graph.Outcome, error) {
	text, err := cache.PutBytes(ctx, s, []byte(said.Text))
	if err != nil {
		return graph.Outcome{}, err
	}
	record, err := json.Marshal(ended{said.Finish, said.Usage})
	if err != nil {
		return graph.Outcome{}, err
	}
	how, err := cache.PutBytes(ctx, s, record)
	return graph.Outcome{Outputs: []cache.Output{{Name: answerOutput, Digest: text}, {Name: usageOutput, Digest: how}}}, err
}

// input reads an output of a dependency.
func input(ctx context.Context, w *graph.Work, from, output string, limit int64) ([]byte, error) {
	d, ok := w.Input(from, output)
	if !ok {
		return nil, fmt.Errorf("dependency %q has no output %q", from, output)
	}
	return cache.ReadBlob(ctx, w.Store, d, limit)
}
