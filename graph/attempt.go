package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/capped"
)

// keptLog limits the stored beginning and the stored end of an attempt's log, in bytes.
const keptLog = 1 << 20

// attempt is a job that tries to do a node's work.
type attempt struct {
	id       ID
	n        *Node
	work     *Work
	key      cache.Key
	manifest []byte
	forced   bool
	pool     string
	result   result
}

// result is the outcome of an attempt.
type result struct {
	kind    resultKind
	served  *cache.Record // answered: the record of another process
	outcome Outcome       // worked
	err     error         // of a broken attempt
	broken  afterBreak    // of a broken attempt
	lost    []ID          // postpone: the dependencies that must run again
	log     []byte
	notes   []string
	seconds float64
}

type resultKind uint8

const (
	busy     resultKind = iota // another process has the key; nothing was done
	answered                   // another process had stored an answer
	worked                     // the task ended with an outcome
	broke                      // the task, or the engine's part of the attempt, returned an error
)

// newAttempt begins an attempt for a worker to run. Its slot is already taken.
func (s *scheduler) newAttempt(id ID) *attempt {
	n, st := s.g.Node(id), s.statusOf(id)
	a := &attempt{id: id, n: n, key: st.Key, manifest: st.Manifest, forced: s.forcedReason(id) != "", pool: s.poolName(n),
		work: newWork(n.Addr, st.Attempts+1, s.o.Store, s.inputs(nil, n))}
	a.work.Forced = s.isForcedByCaller(id)
	s.running++
	s.countQueued(id, -1)
	s.phase[id] = running
	return a
}

// run implements job.
func (a *attempt) run(ctx context.Context, s *scheduler) {
	s.runAttempt(ctx, a)
	if a.result.kind == broke {
		s.afterBreak(ctx, a)
	}
}

// runAttempt holds the key's lock while it works, so that no other process on
// this store does the same work at the same time.
func (s *scheduler) runAttempt(ctx context.Context, a *attempt) {
	r := &a.result
	r.kind = broke // unless it turns out otherwise
	if s.o.Locker != nil {
		release, ok, err := s.o.Locker.Lock(ctx, a.key)
		if err != nil {
			r.err = fmt.Errorf("locking key %s: %w", a.key, err)
			return
		}
		if !ok {
			r.kind = busy
			return
		}
		defer release()
		if !a.forced {
			if r.served, _, r.err = s.validRecord(ctx, a.n, a.key); r.err != nil {
				return
			}
			if r.served != nil {
				r.kind = answered
				return
			}
		}
	}
	s.announceStart(a)
	s.doWork(ctx, a)
	if r.err == nil {
		r.err = s.storeAnswer(ctx, a)
	}
	if r.err == nil {
		r.kind = worked
		forget(a.n) // an attempt that could not store its answer is repeated without another Describe
	}
}

// announceStart emits the event of an attempt that found no answer.
func (s *scheduler) announceStart(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statusOf(a.id).Attempts++
	s.o.Sink.Emit(event.NodeStart{Type: "node.start", Addr: a.n.Addr, Kind: a.n.Kind, Attempt: a.work.Attempt, Pool: a.pool, Time: time.Now().UTC()})
}

// doWork runs the task and keeps its log.
func (s *scheduler) doWork(ctx context.Context, a *attempt) {
	w, r := a.work, &a.result
	log := capped.Buffer{Head: keptLog, Tail: keptLog}
	w.Log = &log
	if far, ok := s.o.Store.(cache.Fetcher); ok {
		far.Fetch(ctx, w.consumedOutputs())
	}
	started := time.Now()
	r.outcome, r.err = runTask(ctx, a.n.Task, w)
	r.seconds = time.Since(started).Seconds()
	var panicked *panicError
	if errors.As(r.err, &panicked) {
		fmt.Fprintf(&log, "%s\n", panicked.stack)
	}
	r.log, r.notes = log.Bytes(), w.notes
	if r.outcome.Class == "" {
		r.outcome.Class = cache.ClassDone
	}
}

// storeAnswer writes the record while the key's lock is still held, even if the run is
// being stopped: finished work is kept.
func (s *scheduler) storeAnswer(ctx context.Context, a *attempt) error {
	ctx = context.WithoutCancel(ctx)
	r := &a.result
	record := &cache.Record{Class: r.outcome.Class, Outputs: r.outcome.Outputs,
		Message: r.outcome.Message, Attempts: a.work.Attempt, Seconds: r.seconds, Run: s.o.Run, Manifest: a.manifest}
	if err := s.o.Store.PutRecord(ctx, a.key, record); err != nil {
		return fmt.Errorf("storing the result: %w", err)
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
