package pytest

import (
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// withMemory adds to what is said of a run that something in it was killed for
// want of memory. Who was killed is known only when pytest was: then that is
// all there is to say.
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
