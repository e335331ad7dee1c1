package pytest

import (
	"bytes"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
)

// uvFailed reports whether the exit is uv's own: it says "error:" or draws a
// cross where pytest would have begun its session. Only asked when there is
// no report.
func uvFailed(exit backend.Exit, log []byte) bool {
	if exit.TimedOut || exit.Signal != "" || exit.Code == 0 || bytes.Contains(log, []byte("test session starts")) {
		return false
	}
	for line := range strings.Lines(string(log)) {
		if strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "  × ") {
			return true
		}
	}
	return false
}
