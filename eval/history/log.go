package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// ErrNoLog means that a node's work printed nothing.
var ErrNoLog = errors.New("printed nothing")

// Log returns the output of a node's work in a recorded run, or in the run that made its answer; or the output
// of a broken attempt; or its message. The error wraps ErrNoLog if all are missing.
func Log(ctx context.Context, store cache.Store, run *event.Run, done *event.NodeDone) ([]byte, error) {
	if endedWithAttempt(done) {
		content, err := run.Log(done.Addr)
		var damaged *event.DamagedError
		switch {
		case errors.As(err, &damaged):
			return nil, exit.With(exit.NotJudged, err)
		case err == nil:
			return content, nil
		}
	}
	switch {
	case done.Kind == plan.KindRun && !endedWithAttempt(done) && done.Key != "":
		return programLog(ctx, store, done)
	case done.Log != "":
		digest, err := cache.ParseDigest(done.Log)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		return readLog(ctx, store, digest, done)
	case done.Message != "":
		return []byte(done.Message + "\n"), nil
	}
	return nil, exit.With(exit.Usage, fmt.Errorf("%s %w in run %s (%s)", done.Addr, ErrNoLog, run.ID, done.State))
}

// endedWithAttempt reports whether a run ended with an attempt without an answer.
func endedWithAttempt(done *event.NodeDone) bool {
	return done.State == event.Broken || done.State == event.Failed
}

// SetupLog returns the output of a node's set-up commands.
func SetupLog(ctx context.Context, store cache.Store, done *event.NodeDone) ([]byte, error) {
	outputs, err := outputs(ctx, store, done, pytest.OutputSetup)
	if err != nil {
		return nil, err
	}
	said, ok := outputs[pytest.OutputSetup]
	if !ok {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s ran no set-up commands", done.Addr))
	}
	return said, nil
}

// programLog returns the output and the result of the program of a judge's case.
func programLog(ctx context.Context, store cache.Store, done *event.NodeDone) ([]byte, error) {
	outputs, err := outputs(ctx, store, done, judge.OutputStdout, judge.OutputExit, graph.LogOutput)
	if err != nil {
		return nil, err
	}
	log, err := judge.RunLog(outputs[judge.OutputStdout], outputs[graph.LogOutput], outputs[judge.OutputExit])
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return log, nil
}

// Outputs returns the outputs of a node in a recorded run, if it has any.
func Outputs(ctx context.Context, store cache.Store, done *event.NodeDone) ([]cache.Output, error) {
	if done.Key == "" {
		return nil, nil
	}
	record, err := recordOf(ctx, store, done)
	if err != nil {
		return nil, err
	}
	return record.Outputs, nil
}

func recordOf(ctx context.Context, store cache.Store, done *event.NodeDone) (*cache.Record, error) {
	key, err := cache.ParseKey(done.Key)
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	record, err := store.Record(ctx, key)
	var foreign *cache.ForeignError
	if errors.As(err, &foreign) {
		return nil, logGone(done)
	}
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if record == nil {
		return nil, logGone(done)
	}
	return record, nil
}

// outputs reads the outputs of a node with one of the names.
func outputs(ctx context.Context, store cache.Store, done *event.NodeDone, names ...string) (map[string][]byte, error) {
	record, err := recordOf(ctx, store, done)
	if err != nil {
		return nil, err
	}
	outputs := map[string][]byte{}
	for _, name := range names {
		if out, ok := record.Output(name); ok {
			if outputs[name], err = readLog(ctx, store, out.Digest, done); err != nil {
				return nil, err
			}
		}
	}
	return outputs, nil
}

func readLog(ctx context.Context, store cache.Store, d cache.Digest, done *event.NodeDone) ([]byte, error) {
	content, err := cache.ReadBlob(ctx, store, d, -1)
	var missing *cache.MissingError
	if errors.As(err, &missing) {
		return nil, logGone(done)
	}
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return content, nil
}

func logGone(done *event.NodeDone) error {
	return exit.With(exit.Usage, fmt.Errorf("the outputs of %s are no longer in the store; `fevalgraph run --force '%s'` makes them again", done.Addr, done.Addr))
}
