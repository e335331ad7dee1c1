package pytest

import (
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks/ending"
)

// withMemory adds to what is said of a run that something in it was killed for
// want of memory. Who was killed is known only when pytest was: then that is
// all there is to say.
func withMemory(limit int64, class report.Class, message string) string {
	switch {
	case limit == 0:
		return message
	case class == report.Killed:
		return "killed: " + ending.OutOfMemory(limit)
	case message == "":
		return "something that the tests started was killed: " + ending.OutOfMemory(limit)
	}
	return message + "; something was killed: " + ending.OutOfMemory(limit)
}
