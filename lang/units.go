package lang

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseDuration reads "1h30m", "20s", "500ms". bare means that the value was written as a number. The hint
// guesses the intended text.
func parseDuration(text string, bare bool) (d time.Duration, hint string, err error) {
	if _, numeric := strconv.ParseFloat(text, 64); numeric == nil || bare {
		written := strconv.Quote(text)
		if bare {
			written = text
		}
		return 0, fmt.Sprintf("write %q", strings.TrimSpace(text)+"s"), fmt.Errorf("%s has no unit", written)
	}
	d, err = time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, `write a number and a unit, such as "20s", "1h30m" or "500ms"`, fmt.Errorf("%q is not a duration", text)
	}
	if d < 0 {
		return 0, "", fmt.Errorf("%q is negative", text)
	}
	return d, "", nil
}
