package view

import (
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

func TestTallyTakesReopenedNodesBack(t *testing.T) {
	var c tally
	now := time.Unix(0, 0)
	for _, e := range []event.Event{
		event.RunStart{Nodes: 2},
		event.NodeDone{Addr: "a", State: event.Cached},
		event.NodeReopened{Addr: "a", State: event.Cached},
		event.NodeDone{Addr: "a", State: event.Done},
		event.NodeDone{Addr: "b", State: event.Broken},
		event.NodeReopened{Addr: "b", State: event.Broken},
	} {
		c.add(e, now)
	}
	if c.done != 1 || c.cached != 0 || c.ran != 1 || c.broken != 0 {
		t.Errorf("done %d, cached %d, ran %d, broken %d; want 1, 0, 1, 0", c.done, c.cached, c.ran, c.broken)
	}
}
