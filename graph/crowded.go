package graph

import (
	"errors"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// CrowdedError reports that the machine had something left too little of, which other work can have
// taken. The work is done once more with no other work of the execution next to it.
type CrowdedError struct{ Err error }

func (e *CrowdedError) Error() string { return e.Err.Error() }
func (e *CrowdedError) Unwrap() error { return e.Err }

// IsCrowded reports whether other work can have caused err.
func IsCrowded(err error) bool {
	var crowded *CrowdedError
	return errors.As(err, &crowded) || exhaustion.Is(err)
}

// waitIsolated queues a node for an attempt that no other one is next to. Until that has ended, no
// other attempt starts. Other executions and programs of the machine are not waited for.
func (s *scheduler) waitIsolated(id ID) {
	s.phase[id] = queued
	s.countQueued(id, 1)
	s.isolated[id] = true
	s.crowded = append(s.crowded, id)
}

// startIsolated starts such an attempt once all others have ended. It reports whether other attempts
// have to wait.
func (s *scheduler) startIsolated(start func(job)) bool {
	for s.running == 0 && len(s.crowded) > 0 {
		id := s.crowded[0]
		s.crowded = s.crowded[1:]
		if s.phase[id] == queued && s.claim(id) {
			s.poolOf(id).free -= s.slotsOf(id)
			a := s.newAttempt(id)
			a.work.Isolated, s.alone = true, true
			start(a)
		}
	}
	return s.alone || len(s.crowded) > 0
}
