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

// update is what a worker tells the loop.
type update struct {
	id      ID
	kind    updateKind
	attempt int           // awake: the attempt that the pause came after
	served  *cache.Record // answered: what another worker had stored meanwhile
	outcome Outcome       // ended
	kept    cache.Digest  // ended: the manifest
	holes   bool          // ended: the outcome was made without some input
	err     error         // ended
	log     []byte        // ended
	notes   []string      // ended
	seconds float64       // ended
}

type updateKind uint8

const (
	began    updateKind = iota // the work starts now
	busy                       // another worker has the key; nothing was done
	answered                   // another worker had finished it meanwhile
	ended                      // the attempt is over
	awake                      // the pause before the next attempt is over
)

// start runs one attempt in a goroutine. The pool's slot is already taken.
func (s *scheduler) start(ctx context.Context, id ID) {
	n, st := s.g.Node(id), &s.status[id]
	attempt := st.Attempts + 1
	w := newWork(n.Addr, attempt, s.o.Store, s.inputs(n))
	key, manifest, forced := st.Key, st.Manifest, s.forced(id) != ""
	w.Forced = s.asked(id)
	if s.o.Profile != nil {
		w.phases = &phases{}
	}
	s.running++
	s.phase[id] = running
	go func() {
		w.Phase(LookUp)
		u := s.attempt(ctx, id, n, w, key, manifest, forced)
		if w.phases != nil {
			s.o.Profile.Worked(n.Addr, attempt, w.phases.marks, time.Now())
		}
		s.updates <- u
	}()
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

// attempt holds the key's lock while it works, so that no other worker on this
// store does the same work at the same time.
func (s *scheduler) attempt(ctx context.Context, id ID, n *Node, w *Work, key cache.Key, manifest []byte, forced bool) (u update) {
	u = update{id: id, kind: ended, holes: w.hasHoles()}
	if s.o.Locker != nil {
		release, ok, err := s.o.Locker.Lock(ctx, key)
		if err != nil {
			u.err = fmt.Errorf("locking key %s: %w", key, err)
			return u
		}
		if !ok {
			u.kind = busy
			return u
		}
		defer release()
		if !forced && !u.holes {
			if record, err := s.o.Store.Record(ctx, key); err == nil && record != nil && s.present(ctx, record.Outputs) {
				lost, err := perished(ctx, n, record.Class, record.Outputs)
				if err != nil {
					u.err = err
					return u
				}
				if lost == "" {
					u.kind, u.served = answered, record
					return u
				}
			}
		}
	}
	s.updates <- update{id: id, kind: began}
	log := capped.Buffer{Head: keptLog, Tail: keptLog}
	w.Log = &log
	w.Phase(Working)
	started := time.Now()
	u.outcome, u.err = runTask(ctx, n.Task, w)
	u.seconds = time.Since(started).Seconds()
	u.log, u.notes = log.Bytes(), w.notes
	if u.outcome.Class == "" {
		u.outcome.Class = cache.ClassDone
	}
	if u.err == nil && !u.holes {
		// Work that is finished is kept, also when the run is being stopped.
		w.Phase(Storing)
		u.kept = s.keepManifest(ctx, manifest)
		u.err = s.store(context.WithoutCancel(ctx), key, w, &u)
	}
	return u
}

// store writes the record while the key's lock is still held.
func (s *scheduler) store(ctx context.Context, key cache.Key, w *Work, u *update) error {
	err := s.o.Store.PutRecord(ctx, key, &cache.Record{Class: u.outcome.Class, Outputs: u.outcome.Outputs,
		Message: u.outcome.Message, Attempts: w.Attempt, Seconds: u.seconds, Run: s.o.Run})
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

// take applies what a worker told.
func (s *scheduler) take(ctx context.Context, u update) {
	n, st := s.g.Node(u.id), &s.status[u.id]
	switch u.kind {
	case began:
		st.Attempts++
		s.o.Sink.Emit(event.NodeStart{Type: "node.start", Addr: n.Addr, Kind: n.Kind, Attempt: st.Attempts})
		return
	case awake:
		s.sleeping--
		if s.phase[u.id] == sleeping && u.attempt == st.Attempts {
			s.reconsider(u.id)
		}
		return
	}
	s.running--
	s.poolOf(u.id).free++
	s.release(u.id)
	for _, text := range u.notes {
		s.o.Sink.Emit(event.NodeNote{Type: "node.note", Addr: n.Addr, Kind: n.Kind, Text: text})
	}
	dirty := s.dirty[u.id]
	delete(s.dirty, u.id)
	switch {
	case dirty:
		// What came of it is for inputs that are not this run's any more. If
		// it is an answer, the store has it under their key.
		s.reconsider(u.id)
	case u.kind == busy:
		s.park(u.id)
	case u.kind == answered:
		st.State, st.Outputs, st.Message = event.Cached, u.served.Outputs, u.served.Message
		st.Cause, st.Stale, st.Changes = cachedCause(u.served), false, nil
		s.remember(u.id, u.served, s.keepManifest(ctx, st.Manifest))
		s.settle(u.id, u.served.Class)
	case u.err != nil:
		s.broke(ctx, u)
	default:
		s.succeed(u)
	}
}

func (s *scheduler) succeed(u update) {
	st := &s.status[u.id]
	st.Outputs, st.Message, st.Seconds = u.outcome.Outputs, u.outcome.Message, u.seconds
	switch u.outcome.Class {
	case cache.ClassFailed:
		st.State = event.Failed
	case cache.ClassTimeout:
		st.State = event.Timeout
	default:
		st.State = event.Done
	}
	if s.o.Force != nil {
		s.ran[u.id] = true
	}
	if !u.holes {
		s.remember(u.id, &cache.Record{Class: u.outcome.Class, Outputs: u.outcome.Outputs,
			Message: u.outcome.Message, Attempts: st.Attempts, Seconds: u.seconds, Run: s.o.Run}, u.kept)
	}
	s.settle(u.id, u.outcome.Class)
}

// broke deals with an attempt that came to nothing.
func (s *scheduler) broke(ctx context.Context, u update) {
	n, st := s.g.Node(u.id), &s.status[u.id]
	st.Seconds = u.seconds
	switch {
	case ctx.Err() != nil:
		s.phase[u.id] = undecided // becomes interrupted
		return
	case s.raced(u.id, u.err):
		s.reconsider(u.id)
		return
	case s.heal(ctx, u.id, u.err):
		return
	case IsInput(u.err), isAbsent(u.err):
	case s.breaks[u.id]+1 < n.Retry.Attempts:
		s.retryLater(u)
		return
	}
	if s.o.SaveLog != nil && len(u.log) > 0 {
		s.o.SaveLog(n.Addr, st.Attempts, u.log)
	}
	s.fail(u.id, u.err)
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

func (s *scheduler) retryLater(u update) {
	n, st := s.g.Node(u.id), &s.status[u.id]
	if s.o.SaveLog != nil && len(u.log) > 0 {
		s.o.SaveLog(n.Addr, st.Attempts, u.log)
	}
	s.o.Sink.Emit(event.NodeRetry{Type: "node.retry", Addr: n.Addr, Kind: n.Kind, Attempt: st.Attempts,
		Reason: firstLine(u.err.Error()), Wait: n.Retry.Wait.Seconds()})
	s.breaks[u.id]++
	s.phase[u.id] = sleeping
	s.sleeping++
	awakened := update{id: u.id, kind: awake, attempt: st.Attempts}
	time.AfterFunc(n.Retry.Wait, func() {
		select {
		case s.updates <- awakened:
		case <-s.quit:
		}
	})
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
