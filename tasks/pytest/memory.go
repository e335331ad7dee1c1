package pytest

import (
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// withMemory adds to a message that a process was killed for lack of memory.
// Only if that process is known to be pytest, it replaces the message.
func withMemory(limit int64, class verdict.Class, message string) string {
	switch {
	case limit == 0:
		return message
	case class == verdict.Killed:
		return "killed: " + session.OutOfMemory(limit)
	case message == "":
		return "something that the tests started was killed: " + session.OutOfMemory(limit)
	}
	return message + "; something was killed: " + session.OutOfMemory(limit)
}
