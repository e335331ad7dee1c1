package session

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
)

// signalBase is added by shells and launchers to the number of the signal that ended their child.
const signalBase = 128

// lastSignal is the highest number of a signal that ends processes by default and is not
// a real-time signal.
const lastSignal = 31

// Doubtful reports whether a program was ended or stopped by a signal that might have come from
// outside of its session. The caller must run the program again, in a new session; if it ends in
// the same way, the program itself is the cause.
func Doubtful(e backend.Exit) bool {
	switch {
	case e.OOM:
		return false
	case e.TimedOut:
		return e.Stopped
	}
	// Even a signal that a fault raises, such as SIGSEGV, can be sent.
	return e.Signal != "" || e.Code > signalBase && e.Code <= signalBase+lastSignal
}

// Again explains to users why a program runs again after a doubtful end.
func Again(program string, e backend.Exit) string {
	how := "was ended by a signal"
	if e.Stopped {
		how = "was stopped by a signal until its limit"
	}
	return fmt.Sprintf("%s %s, which could have come from outside; it runs once more", program, how)
}
