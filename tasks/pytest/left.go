package pytest

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

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
