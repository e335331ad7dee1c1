package pytest

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/report"
)

// outOfMemory says which limit was reached: "out of memory, the limit is 64 MiB".
func outOfMemory(limit int64) string {
	size, unit := float64(limit), "bytes"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, larger
	}
	return "out of memory, the limit is " + strconv.FormatFloat(math.Round(size*10)/10, 'f', -1, 64) + " " + unit
}

// ending says for people how a command ended, after a word for its exit code.
func ending(word string, e backend.Exit) string {
	out := fmt.Sprintf("%s %d", word, e.Code)
	if e.OOM {
		out += ", killed: " + outOfMemory(e.OOMLimit)
	}
	return out
}

// withMemory adds to what is said of a run that something in it was killed for
// want of memory. Who was killed is known only when pytest was: then that is
// all there is to say.
func withMemory(limit int64, class report.Class, message string) string {
	switch {
	case limit == 0:
		return message
	case class == report.Killed:
		return "killed: " + outOfMemory(limit)
	case message == "":
		return "something that the tests started was killed: " + outOfMemory(limit)
	}
	return message + "; something was killed: " + outOfMemory(limit)
}
