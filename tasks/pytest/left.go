package pytest

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// runOutput contains the outputs of a run.
type runOutput struct {
	exit         exitFacts
	timing       session.Timing
	report, ctrf []byte // nil if missing
	log          []byte
}

// ReadOutput reads the pytest-report.json and the log of a Run with the given outputs. Each is nil if it is
// missing, for example because the Run broke.
func ReadOutput(ctx context.Context, store cache.Store, outputs []cache.Output) (report, log []byte, err error) {
	find := func(name string) (cache.Digest, bool) {
		i := slices.IndexFunc(outputs, func(o cache.Output) bool { return o.Name == name })
		if i < 0 {
			return cache.Digest{}, false
		}
		return outputs[i].Digest, true
	}
	if _, ok := find(OutputExit); !ok {
		return nil, nil, nil
	}
	l, err := readLeft(ctx, store, find)
	return l.report, l.log, err
}

// readLeft reads the outputs of a run, which find returns by name.
func readLeft(ctx context.Context, store cache.Store, find func(output string) (cache.Digest, bool)) (runOutput, error) {
	var l runOutput
	read := func(output string) ([]byte, error) {
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
	exit, err := read(OutputExit)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(exit, &l.exit); err != nil {
		return l, fmt.Errorf("decoding the exit: %w", err)
	}
	took, err := read(OutputTiming)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(took, &l.timing); err != nil {
		return l, fmt.Errorf("decoding the timing: %w", err)
	}
	for _, r := range []struct {
		output, path string
		content      *[]byte
	}{{OutputReport, jsonReportPath, &l.report}, {OutputCTRF, ctrfPath, &l.ctrf}} {
		if d, ok := find(r.output); ok && d.Size > maxReport { // an earlier version stored it
			l.exit.TooLarge = append(l.exit.TooLarge, path.Base(r.path))
			continue
		}
		if *r.content, err = read(r.output); err != nil {
			return l, err
		}
	}
	l.log, err = read(OutputLog)
	return l, err
}
