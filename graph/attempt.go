package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/capped"
)

// keptLog bounds the beginning and the end of an attempt's log, in bytes.
const keptLog = 1 << 20

// attempt is one try at a node's work. What it needs is handed to it, so that it
// runs without the scheduler's lock.
type attempt struct {
	id       ID
	n        *Node
	work     *Work
	key      cache.Key
	manifest []byte
	forced   bool
}

// result is what came of an attempt.
type result struct {
	id      ID
	kind    resultKind
	served  *cache.Record // answered: what another worker had stored meanwhile
	outcome Outcome       // ended
	kept    cache.Digest  // ended: the manifest
	holes   bool          // ended: the outcome was made without some input
	err     error         // ended
	log     []byte        // ended
	notes   []string      // ended
	seconds float64       // ended
}

type resultKind uint8

const (
	busy     resultKind = iota // another worker has the key; nothing was done
	answered                   // another worker had finished it meanwhile
	ended                      // the attempt is over
)

// begin makes an attempt for work to run. The pool's slot is already taken.
func (s *scheduler) begin(id ID) *attempt {
	n, st := s.g.Node(id), &s.status[id]
	a := &attempt{id: id, n: n, key: st.Key, manifest: st.Manifest, forced: s.forced(id) != "",
		work: newWork(n.Addr, st.Attempts+1, s.o.Store, s.inputs(n))}
	a.work.Forced = s.asked(id)
	if s.o.Profile != nil {
		a.work.phases = &phases{}
	}
	s.running++
	s.phase[id] = running
	return a
}

// work runs attempts, one after the other, until there is none for it. A slot
// stays with its goroutine that way: one that has to be woken for each attempt
// takes time from the programs that others run.
func (s *scheduler) work(ctx context.Context, a *attempt) {
	for a != nil {
		a.work.Phase(LookUp)
		r := s.try(ctx, a)
		if p := a.work.phases; p != nil {
			s.o.Profile.Worked(a.n.Addr, s.poolName(a.n), a.work.Attempt, p.marks, time.Now())
		}
		a = s.report(ctx, r)
	}
}

// report applies a result and returns what the goroutine is to do next.
func (s *scheduler) report(ctx context.Context, r result) *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(ctx, r)
	return s.proceed(ctx)
}

func (s *scheduler) inputs(n *Node) []input {
	inputs := make([]input, len(n.Deps))
	for i, d := range n.Deps {
		st := &s.status[d.On]
		inputs[i] = input{as: d.As, state: st.State, message: st.Message}
		if !s.usable(d.On) {
			inputs[i].hole = true
			if s.class[d.On] == cache.ClassFailed {
				inputs[i].state = event.Failed
			}
			continue
		}
		for _, name := range d.Outputs {
			if o, ok := st.output(name); ok {
				inputs[i].outputs = append(inputs[i].outputs, o)
			}
		}
	}
	return inputs
}

// try holds the key's lock while it works, so that no other worker on this store
// does the same work at the same time.
func (s *scheduler) try(ctx context.Context, a *attempt) (r result) {
	w := a.work
	r = result{id: a.id, kind: ended, holes: w.hasHoles()}
	if s.o.Locker != nil {
		release, ok, err := s.o.Locker.Lock(ctx, a.key)
		if err != nil {
			r.err = fmt.Errorf("locking key %s: %w", a.key, err)
			return r
		}
		if !ok {
			r.kind = busy
			return r
		}
		defer release()
		if !a.forced && !r.holes {
			if record, err := s.o.Store.Record(ctx, a.key); err == nil && record != nil && s.present(ctx, record.Outputs) {
				lost, err := perished(ctx, a.n, record.Class, record.Outputs)
				if err != nil {
					r.err = err
					return r
				}
				if lost == "" {
					r.kind, r.served = answered, record
					return r
				}
			}
		}
	}
	s.began(a)
	log := capped.Buffer{Head: keptLog, Tail: keptLog}
	w.Log = &log
	w.Phase(Working)
	started := time.Now()
	r.outcome, r.err = runTask(ctx, a.n.Task, w)
	r.seconds = time.Since(started).Seconds()
	r.log, r.notes = log.Bytes(), w.notes
	if r.outcome.Class == "" {
		r.outcome.Class = cache.ClassDone
	}
	if r.err == nil && !r.holes {
		// Work that is finished is kept, also when the run is being stopped.
		w.Phase(Storing)
		r.kept = s.keepManifest(ctx, a.manifest)
		r.err = s.store(context.WithoutCancel(ctx), a, &r)
	}
	return r
}

// began tells that an attempt was not spared its work.
func (s *scheduler) began(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[a.id].Attempts++
	s.o.Sink.Emit(event.NodeStart{Type: "node.start", Addr: a.n.Addr, Kind: a.n.Kind, Attempt: a.work.Attempt})
}

// store writes the record while the key's lock is still held.
func (s *scheduler) store(ctx context.Context, a *attempt, r *result) error {
	err := s.o.Store.PutRecord(ctx, a.key, &cache.Record{Class: r.outcome.Class, Outputs: r.outcome.Outputs,
		Message: r.outcome.Message, Attempts: a.work.Attempt, Seconds: r.seconds, Run: s.o.Run})
	if err != nil {
		return fmt.Errorf("storing the result: %w", err)
	}
	return nil
}

// runTask turns a panic of a task into a broken node: one bad node must not
// lose the work of the others.
func runTask(ctx context.Context, t Task, w *Work) (o Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(w.Log, "%s\n", debug.Stack())
			err = fmt.Errorf("bug in fevalgraph: panic: %v", p)
		}
	}()
	return t.Run(ctx, w)
}

// take applies a result.
func (s *scheduler) take(ctx context.Context, r result) {
	n, st := s.g.Node(r.id), &s.status[r.id]
	s.running--
	s.poolOf(r.id).free++
	s.release(r.id)
	for _, text := range r.notes {
		s.o.Sink.Emit(event.NodeNote{Type: "node.note", Addr: n.Addr, Kind: n.Kind, Text: text})
	}
	dirty := s.dirty[r.id]
	delete(s.dirty, r.id)
	switch {
	case dirty:
		// What came of it is for inputs that are not this run's any more. If
		// it is an answer, the store has it under their key.
		s.reconsider(r.id)
	case r.kind == busy:
		s.park(r.id)
	case r.kind == answered:
		st.State, st.Outputs, st.Message = event.Cached, r.served.Outputs, r.served.Message
		st.Cause, st.Stale, st.Changes = cachedCause(r.served), false, nil
		s.remember(r.id, r.served, s.keepManifest(ctx, st.Manifest))
		s.settle(r.id, r.served.Class)
	case r.err != nil:
		s.broke(ctx, r)
	default:
		s.succeed(r)
	}
}

func (s *scheduler) succeed(r result) {
	st := &s.status[r.id]
	st.Outputs, st.Message, st.Seconds = r.outcome.Outputs, r.outcome.Message, r.seconds
	switch r.outcome.Class {
	case cache.ClassFailed:
		st.State = event.Failed
	case cache.ClassTimeout:
		st.State = event.Timeout
	default:
		st.State = event.Done
	}
	if s.o.Force != nil {
		s.ran[r.id] = true
	}
	if !r.holes {
		s.remember(r.id, &cache.Record{Class: r.outcome.Class, Outputs: r.outcome.Outputs,
			Message: r.outcome.Message, Attempts: st.Attempts, Seconds: r.seconds, Run: s.o.Run}, r.kept)
	}
	s.settle(r.id, r.outcome.Class)
}

// broke deals with an attempt that came to nothing.
func (s *scheduler) broke(ctx context.Context, r result) {
	n, st := s.g.Node(r.id), &s.status[r.id]
	st.Seconds = r.seconds
	switch {
	case ctx.Err() != nil:
		s.phase[r.id] = undecided // becomes interrupted
		return
	case s.raced(r.id, r.err):
		s.reconsider(r.id)
		return
	case s.heal(ctx, r.id, r.err):
		return
	case IsInput(r.err), isAbsent(r.err):
	case s.breaks[r.id]+1 < n.Retry.Attempts:
		s.retryLater(ctx, r)
		return
	}
	if s.o.SaveLog != nil && len(r.log) > 0 {
		s.o.SaveLog(n.Addr, st.Attempts, r.log)
	}
	s.fail(r.id, r.err)
}

// raced reports whether a source changed while it was read and the node should
// be described anew; what was read then is kept out of the store.
func (s *scheduler) raced(id ID, err error) bool {
	var changed *cache.ChangedError
	if !errors.As(err, &changed) || s.races[id] >= sourceRaceAttempts {
		return false
	}
	s.races[id]++
	return true
}

func (s *scheduler) retryLater(ctx context.Context, r result) {
	n, st := s.g.Node(r.id), &s.status[r.id]
	if s.o.SaveLog != nil && len(r.log) > 0 {
		s.o.SaveLog(n.Addr, st.Attempts, r.log)
	}
	s.o.Sink.Emit(event.NodeRetry{Type: "node.retry", Addr: n.Addr, Kind: n.Kind, Attempt: st.Attempts,
		Reason: firstLine(r.err.Error()), Wait: n.Retry.Wait.Seconds()})
	s.breaks[r.id]++
	s.phase[r.id] = sleeping
	s.sleeping++
	attempts := st.Attempts
	time.AfterFunc(n.Retry.Wait, func() { s.awaken(ctx, r.id, attempts) })
}

// awaken ends the pause that came after so many attempts at a node.
func (s *scheduler) awaken(ctx context.Context, id ID, attempts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.sleeping--
	if s.phase[id] == sleeping && attempts == s.status[id].Attempts {
		s.reconsider(id)
	}
	go s.work(ctx, s.proceed(ctx))
}

// park puts a node aside until another worker lets go of its key.
func (s *scheduler) park(id ID) {
	if s.unsettled(id) > 0 {
		s.reconsider(id)
		return
	}
	s.phase[id] = parked
	s.parked = append(s.parked, id)
}

// unpark tries again for keys that other workers had.
func (s *scheduler) unpark() {
	for _, id := range s.parked {
		if s.phase[id] == parked {
			s.enqueue(id)
		}
	}
	s.parked = s.parked[:0]
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
