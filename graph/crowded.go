package graph

import (
	"errors"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// CrowdedError reports that the machine ran out of a resource, which other work might have used. The work is
// repeated once while no other work of the execution runs.
type CrowdedError struct{ Err error }

func (e *CrowdedError) Error() string { return e.Err.Error() }
func (e *CrowdedError) Unwrap() error { return e.Err }

// IsCrowded reports whether other work might have caused err.
func IsCrowded(err error) bool {
	var crowded *CrowdedError
	return errors.As(err, &crowded) || exhaustion.Is(err)
}

// waitIsolated queues a node for an attempt without concurrent ones. Until that has ended, no other
// attempt starts. It does not wait for other executions and programs of the machine.
func (s *scheduler) waitIsolated(id ID) {
	s.phase[id] = queued
	s.countQueued(id, 1)
	s.isolated[id] = true
	s.isolatedQueue = append(s.isolatedQueue, id)
}

// startIsolated starts such an attempt once all others have ended. It reports whether other attempts
// have to wait.
func (s *scheduler) startIsolated(start func(job)) bool {
	for s.running == 0 && len(s.isolatedQueue) > 0 {
		id := s.isolatedQueue[0]
		s.isolatedQueue = s.isolatedQueue[1:]
		if s.claim(id) {
			s.poolOf(id).free -= s.slotsOf(id)
			a := s.newAttempt(id)
			a.work.Isolated, s.isolatedRunning = true, true
			start(a)
		}
	}
	return s.isolatedRunning || len(s.isolatedQueue) > 0
}
