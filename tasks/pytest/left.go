package pytest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// runOutput contains the outputs of a run.
type runOutput struct {
	exit        exitFacts
	timing      session.Timing
	stages, log []byte // nil if missing
}

// finder returns the digest of an output of a run, or false if it is missing.
type finder func(output string) (cache.Digest, bool)

// ReadOutput reads the pytest-report.json and the log of a Run with the given outputs. Each is nil if it is
// missing, for example because the Run broke.
func ReadOutput(ctx context.Context, store cache.Store, outputs []cache.Output) (report, log []byte, err error) {
	find := finder(func(name string) (cache.Digest, bool) {
		i := slices.IndexFunc(outputs, func(o cache.Output) bool { return o.Name == name })
		if i < 0 {
			return cache.Digest{}, false
		}
		return outputs[i].Digest, true
	})
	if report, err = find.read(ctx, store, OutputReport); err == nil {
		log, err = find.read(ctx, store, OutputLog)
	}
	return report, log, err
}

// read returns an output, or nil if it is missing.
func (find finder) read(ctx context.Context, store cache.Store, output string) ([]byte, error) {
	d, ok := find(output)
	if !ok {
		return nil, nil
	}
	content, err := cache.ReadBlob(ctx, store, d, -1)
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", output, err)
	}
	return content, nil
}

// readLeft reads the outputs of a run that its verdict follows from.
func readLeft(ctx context.Context, store cache.Store, find finder) (runOutput, error) {
	var l runOutput
	for output, value := range map[string]any{OutputExit: &l.exit, OutputTiming: &l.timing} {
		content, err := find.read(ctx, store, output)
		if err != nil {
			return l, err
		}
		if err := json.Unmarshal(content, value); err != nil {
			return l, fmt.Errorf("decoding the %s: %w", output, err)
		}
	}
	var err error
	if l.stages, err = find.read(ctx, store, OutputStages); err == nil {
		l.log, err = find.read(ctx, store, OutputLog)
	}
	return l, err
}
