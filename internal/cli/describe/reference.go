package describe

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// References returns a line for each reference solution without the expected result.
func References(all []report.Reference) string {
	var b strings.Builder
	for _, r := range all {
		name := "its reference"
		if r.Name != lang.ReferenceName {
			name += " " + text.Line(r.Name, 0)
		}
		switch {
		case r.Missed == 0:
		case r.Wanted != nil && r.Score != nil:
			fmt.Fprintf(&b, "%s: %s has the score %v, but must reach %v\n", r.Problem, name, *r.Score, *r.Wanted)
		case r.Wanted != nil:
			fmt.Fprintf(&b, "%s: %s has no score, but must reach %v\n", r.Problem, name, *r.Wanted)
		case r.Expect == lang.ExpectPass:
			fmt.Fprintf(&b, "%s: %s must pass every checkpoint, but does not\n", r.Problem, name)
		case r.Expect == lang.ExpectFail:
			fmt.Fprintf(&b, "%s: %s must fail, but got: %s\n", r.Problem, name, r.Got)
		default:
			fmt.Fprintf(&b, "%s: %s must have a score in %s, but got: %s\n", r.Problem, name, r.Expect, r.Got)
		}
		if r.Unjudged > 0 || r.Judged == 0 {
			fmt.Fprintf(&b, "%s: %s could not be judged in %s\n", r.Problem, name, text.Count(max(r.Unjudged, 1), "repeat"))
		}
		for _, difference := range r.Flaky {
			fmt.Fprintf(&b, "%s: %s is flaky: %s\n", r.Problem, name, text.Line(difference, 200))
		}
	}
	return b.String()
}
