package graph

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// Last holds the results of earlier executions for a node. The engine uses it to explain decisions, to
// estimate durations, and to find an answer without opening its record. The caller stores the result of
// Report.Last for the next execution; losing it is harmless, because the record in the store is the answer
// of a key.
type Last struct {
	Addr      string
	Answer              // the last stored answer; its Key is zero without one
	Store     string    // ID of the store with its record
	Broken    string    // first line of the error of a later attempt that broke or failed; "" without one
	BrokenKey cache.Key // of that attempt; zero if its inputs could not be described
	Failed    bool      // that attempt failed
}

// Last returns the Last of a node for the next execution: the answer that this execution made or found, or
// else the previous one, and whether an attempt broke. Input errors and absent devices do not count as
// attempts.
func (r *Report) Last(id ID) Last {
	n, st := r.g.Node(id), r.Status(id)
	if st.Stored {
		return Last{Addr: n.Addr, Answer: r.answer(id), Store: r.store}
	}
	last := r.last(n.Addr)
	last.Addr = n.Addr
	if failed := st.State == event.Failed && !st.Input; (st.State == event.Broken || failed) && !st.Withheld {
		last.Broken, last.BrokenKey, last.Failed = firstLine(st.Message), st.Key, failed
	}
	return last
}

// Ended returns the state of the attempt that broke or failed; "" if none did.
func (l *Last) Ended() event.State {
	switch {
	case l.Broken == "":
		return ""
	case l.Failed:
		return event.Failed
	}
	return event.Broken
}

// attempt describes the attempt that broke or failed, without the hint that was printed then.
func (l *Last) attempt() string {
	why, _, _ := strings.Cut(l.Broken, " (hint: ")
	return fmt.Sprintf("last attempt %s (%s)", l.Ended(), why)
}

// answer returns the stored answer of a node.
func (r *Report) answer(id ID) Answer {
	n, st := r.g.Node(id), r.Status(id)
	if n.Pinned != nil {
		return *n.Pinned
	}
	a := Answer{Key: st.Key, Class: st.Class, Outputs: st.Outputs, Message: st.Message, Seconds: st.Saved, Run: st.Run}
	if st.State != event.Cached {
		a.Seconds, a.Run = st.Seconds, r.run
	}
	return a
}
