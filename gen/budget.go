package gen

import (
	"fmt"
	"sync"
)

// Budget bounds what the requests of a call may cost. It is safe for concurrent use.
type Budget struct {
	Max float64 // dollars; 0 is no bound

	mu       sync.Mutex
	spent    float64
	reserved float64 // for requests under way
}

// SpentError says that a request would cost more than is left.
type SpentError struct{ Spent, Max float64 }

func (e *SpentError) Error() string {
	return fmt.Sprintf("not asked: $%.4f of the $%.4f that it may cost are spent, and the next request may cost more than what is left", e.Spent, e.Max)
}

// reserve takes an estimate from what is left.
func (b *Budget) reserve(estimate float64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Max > 0 && b.spent+b.reserved+estimate > b.Max {
		return &SpentError{b.spent, b.Max}
	}
	b.reserved += estimate
	return nil
}

// spend replaces an estimate by what it was.
func (b *Budget) spend(estimate, cost float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= estimate
	b.spent += cost
}
