package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// step is an event and the time that passes before it.
type step struct {
	after time.Duration
	event event.Event
}

func started(addr string) event.NodeStart {
	return event.NodeStart{Type: "node.start", Addr: addr, Kind: "pytest", Attempt: 1}
}

func ended(addr string, state event.State, seconds float64, cause, message string) event.NodeDone {
	return event.NodeDone{Type: "node.done", Addr: addr, Kind: "pytest", State: state, Seconds: seconds, Cause: cause, Message: message, Attempt: 1}
}

// eventfulRun has every state a node can end in.
func eventfulRun() []step {
	var long strings.Builder
	for i := range 20 {
		fmt.Fprintf(&long, "line %d \x1b[31mof the report\x1b[0m\n", i+1)
	}
	steps := []step{{0, event.RunStart{Type: "run.start", Schema: event.Schema, Run: "r1", Version: "test", Nodes: 12, Jobs: 2}}}
	for i := range 4 {
		steps = append(steps, step{0, ended(fmt.Sprintf("kvstore/tests/%d", i), event.Cached, 0, "fresh", "")})
	}
	return append(steps,
		step{0, event.NodeQueued{Type: "node.queued", Addr: "kvstore/a/pytest", Kind: "pytest", Cause: `asset "fixtures": seed/b.txt changed`}},
		step{10 * time.Millisecond, started("kvstore/a/pytest")},
		step{0, started("kvstore/b/pytest")},
		step{1200 * time.Millisecond, ended("kvstore/a/pytest", event.Done, 1.2, `asset "fixtures": seed/b.txt changed`, "")},
		step{0, started("kvstore/c/pytest")},
		step{time.Second, event.NodeRetry{Type: "node.retry", Addr: "kvstore/c/pytest", Attempt: 1, Reason: "connection refused\nby peer", Wait: 30}},
		step{time.Second, ended("kvstore/b/pytest", event.Timeout, 3.2, "never ran", "session limit of 3s")},
		step{40 * time.Second, event.NodeStart{Type: "node.start", Addr: "kvstore/c/pytest", Kind: "pytest", Attempt: 2}},
		step{time.Second, ended("kvstore/c/pytest", event.Broken, 1, "last attempt broken", "starting uvx: connection refused\nhint: is the network up?")},
		step{0, ended("kvstore/c/parse", event.Blocked, 0, "kvstore/c/pytest is broken", "")},
		step{0, started("kvstore/d/pytest")},
		step{0, event.NodeNote{Type: "node.note", Addr: "kvstore/d/pytest", Kind: "pytest", Text: "kept; to enter it: docker start fevalgraph-kept-0123456789 && docker exec -it -w '/workspace' fevalgraph-kept-0123456789 /bin/sh"}},
		step{time.Second, ended("kvstore/d/pytest", event.Failed, 1, "never ran", long.String())},
		step{0, started("kvstore/e/pytest")},
		step{time.Second, ended("kvstore/e/pytest", event.Interrupted, 1, "never ran", "")},
		step{0, ended("kvstore/f/pytest", event.Interrupted, 0, "never ran", "")},
		step{0, event.RunEnd{Type: "run.end", Run: "r1", Nodes: 12, Executed: 4, Cached: 4, Failed: 2, Broken: 1, Blocked: 1, Interrupted: 2, Seconds: 46.2, Exit: 130}},
	)
}

// play sends the steps to v, moving the clock.
func play(v event.Sink, c *clock, steps []step) {
	for _, s := range steps {
		c.pass(s.after)
		v.Emit(s.event)
	}
}
