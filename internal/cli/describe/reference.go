package describe

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// References returns a line for each reference solution without the expected result.
func References(all []validate.Reference) string {
	var b strings.Builder
	for _, r := range all {
		switch {
		case r.Reached:
		case r.Wanted == nil:
			fmt.Fprintf(&b, "%s: its reference must pass every checkpoint, and does not\n", r.Problem)
		case r.Score != nil:
			fmt.Fprintf(&b, "%s: its reference has the score %v, and must reach %v\n", r.Problem, *r.Score, *r.Wanted)
		default:
			fmt.Fprintf(&b, "%s: its reference has no score, and must reach %v\n", r.Problem, *r.Wanted)
		}
		for _, difference := range r.Flaky {
			fmt.Fprintf(&b, "%s: its reference is flaky: %s\n", r.Problem, text.Line(difference, 200))
		}
	}
	return b.String()
}
