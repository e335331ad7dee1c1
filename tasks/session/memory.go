package session

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fevalgraph/fevalgraph/backend"
)

// OutOfMemory describes the reached limit: "out of memory, the limit is 64 MiB".
func OutOfMemory(limit int64) string { return "out of memory, the limit is " + Size(limit) }

// Size formats a number of bytes: "64 MiB".
func Size(bytes int64) string {
	size, unit := float64(bytes), "bytes"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, larger
	}
	return strconv.FormatFloat(math.Round(size*10)/10, 'f', -1, 64) + " " + unit
}

// Words describes the end of a command for users; word precedes its exit code.
func Words(word string, e backend.Exit) string {
	out := fmt.Sprintf("%s %d", word, e.Code)
	if e.TimedOut {
		out += ", time limit exceeded"
	}
	if e.OOM {
		out += ", killed: " + OutOfMemory(e.OOMLimit)
	}
	return out
}
