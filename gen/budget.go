package gen

import (
	"fmt"
	"sync"
)

// Budget bounds the cost of a call's requests. It is safe for concurrent use.
type Budget struct {
	Max float64 // dollars; 0 means no bound

	mu       sync.Mutex
	spent    float64
	reserved float64 // for requests under way
}

// SpentError means that a request would exceed the rest of the budget.
type SpentError struct{ Spent, Max float64 }

func (e *SpentError) Error() string {
	return fmt.Sprintf("not requested: $%.4f of at most $%.4f are spent, and the next request could exceed the rest", e.Spent, e.Max)
}

// reserve takes an estimate from the rest of the budget.
func (b *Budget) reserve(estimate float64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Max > 0 && b.spent+b.reserved+estimate > b.Max {
		return &SpentError{b.spent, b.Max}
	}
	b.reserved += estimate
	return nil
}

// spend replaces an estimate by the actual cost.
func (b *Budget) spend(estimate, cost float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= estimate
	b.spent += cost
}
