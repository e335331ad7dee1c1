package graph

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
)

// What is given is taken as it is, without a decision, a word or a count.
func TestGiven(t *testing.T) {
	h := newHarness(t)
	digest, err := cache.PutBytes(t.Context(), h.store, []byte("known"))
	if err != nil {
		t.Fatal(err)
	}
	_ = digest
}
