package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/user"
)

// Insist makes the remote caches wait until their servers answer, for calls that only send or fetch. It reports when a
// request is repeated.
func (s *Stores) Insist() {
	for _, one := range s.remotes {
		one.Insist(func(err error) {
			s.options.Note(options.RemoteTrouble{Name: one.name, Err: fmt.Errorf("%w; trying again for up to 5 minutes (Ctrl-C ends it)", err)})
		})
	}
}

// Push sends the records of keys to the writable remote caches. It returns how many were sent, and how many
// were not.
func (s *Stores) Push(ctx context.Context, keys []cache.Key) (sent, left int, err error) {
	writable, unsigned := false, false
	for _, one := range s.remotes {
		if !one.Writes() {
			unsigned = unsigned || one.unsigned
			continue
		}
		writable = true
		for _, key := range keys {
			// Content that is missing here is in a remote cache.
			if record, err := s.local.Record(ctx, key); err == nil && record != nil {
				one.Written(key)
			}
		}
		n, remaining := one.Flush(ctx)
		sent, left = sent+n, left+remaining
	}
	if !writable && unsigned {
		return 0, 0, exit.With(exit.Usage, fmt.Errorf("results are signed before they are sent, and %s is not set; `fevalgraph keygen` makes a key", user.SigningKeyVariable))
	}
	if !writable {
		return 0, 0, exit.With(exit.Usage, errors.New(`no remote cache to send to: add one with mode = "rw" to the configuration`))
	}
	return sent, left, context.Cause(ctx)
}

// Pull copies the records of keys, with all referenced content, from remote caches to the store of this
// machine. It returns how many are there now, and how many are missing.
func (s *Stores) Pull(ctx context.Context, keys []cache.Key) (copied, left int, err error) {
	layers, ok := s.Store.(*cache.Layered)
	if !ok || len(s.remotes) == 0 {
		return 0, 0, exit.With(exit.Usage, errors.New("no remote cache to copy from"))
	}
	records := map[cache.Key]*cache.Record{}
	var outputs []cache.Output
	for _, key := range keys {
		if record, err := layers.Record(ctx, key); err == nil && record != nil {
			records[key] = record
			outputs = append(outputs, record.Outputs...)
		}
	}
	layers.Fetch(ctx, outputs)
	for _, key := range keys {
		record, whole := records[key], true
		for i := 0; record != nil && whole && i < len(record.Outputs); i++ {
			whole = cache.OutputComplete(ctx, layers.Upper, record.Outputs[i]) == nil
		}
		if record == nil || !whole || layers.Upper.PutRecord(ctx, key, record) != nil {
			left++
			continue
		}
		copied++
	}
	return copied, left, context.Cause(ctx)
}
