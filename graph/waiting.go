package graph

import (
	"slices"
	"time"
)

// maxHold limits how long a slot stays empty because a decision can add work
// of higher priority. It is longer than decisions about local files take, and
// too short to be noticed in a run.
const maxHold = 2 * time.Millisecond

// alarm wakes the scheduler's run at the earliest time that it was set to. It
// is guarded by the scheduler's lock.
type alarm struct {
	timer  *time.Timer
	wakeAt time.Time // zero if unset
}

func newAlarm() alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return alarm{timer: t}
}

func (a *alarm) set(at time.Time) {
	if a.wakeAt.IsZero() || at.Before(a.wakeAt) {
		a.wakeAt = at
		a.timer.Reset(time.Until(at))
	}
}

// setAfter sets the alarm to a time from now, which it returns.
func (a *alarm) setAfter(d time.Duration) time.Time {
	at := time.Now().Add(d)
	a.set(at)
	return at
}

func (a *alarm) stop() { a.timer.Stop() }

// pause is the time between two attempts at a node.
type pause struct {
	id    ID
	until time.Time
}

// ring ends all waits that are due and sets the alarm for the next one.
func (s *scheduler) ring() {
	now := time.Now()
	if s.alarm.wakeAt.IsZero() || now.Before(s.alarm.wakeAt) {
		return
	}
	s.alarm.wakeAt = time.Time{}
	if !s.holding.IsZero() {
		s.endHold(now)
	}
	if len(s.parked) > 0 {
		s.unpark(now)
	}
	s.pauses = slices.DeleteFunc(s.pauses, func(p pause) bool {
		if now.Before(p.until) {
			s.alarm.set(p.until)
			return false
		}
		s.reconsider(p.id)
		return true
	})
}

// endHold lets attempts start although decisions are running.
func (s *scheduler) endHold(now time.Time) {
	if now.Before(s.holding) {
		s.alarm.set(s.holding)
		return
	}
	s.holding, s.recent = time.Time{}, 0
	s.holds++
}

// sleep pauses a node before its next attempt.
func (s *scheduler) sleep(id ID) {
	s.phase[id] = sleeping
	s.pauses = append(s.pauses, pause{id, s.alarm.setAfter(s.g.Node(id).Retry.pause(s.breaks[id]))})
}

// park sets a node aside until another process releases its key.
func (s *scheduler) park(id ID) {
	s.phase[id] = parked
	if len(s.parked) == 0 {
		s.pollAt = s.alarm.setAfter(s.o.LockPoll)
	}
	s.parked = append(s.parked, id)
}

// unpark retries the keys that other processes held.
func (s *scheduler) unpark(now time.Time) {
	if now.Before(s.pollAt) {
		s.alarm.set(s.pollAt)
		return
	}
	for _, id := range s.parked {
		s.enqueue(id)
	}
	s.parked = s.parked[:0]
}
