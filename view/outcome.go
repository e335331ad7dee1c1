package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Reason is a failure with its reason.
type Reason struct {
	What string // "pytest:kvstore/basic broken"
	Why  string
}

// Reasons writes each distinct reason once, with its first failure and the number of others,
// counted with a noun:
//
//	pytest:kvstore/basic broken: uv is not installed
//	  and 41 more nodes for the same reason
func Reasons(w io.Writer, all []Reason, noun string) {
	times := map[string]int{}
	for _, r := range all {
		times[r.Why]++
	}
	for _, r := range all {
		n := times[r.Why]
		if n == 0 {
			continue // already written
		}
		times[r.Why] = 0
		io.WriteString(w, text.Block(fmt.Sprintf("%s: %s\n", r.What, r.Why)))
		if n > 1 {
			fmt.Fprintf(w, "  and %s for the same reason\n", text.Count(n-1, "more "+noun))
		}
	}
}

// shownFailures limits the failures that are listed below the table of a run.
const shownFailures = 10

// Failures lists the checkpoints that did not pass, with the messages of their tests.
func Failures(w io.Writer, r *report.Results, o report.Options) error {
	var list strings.Builder
	n, err := report.WriteFailures(&list, r, shownFailures, o)
	if err != nil || n == 0 {
		return err
	}
	fmt.Fprintf(w, "\n%s", list.String())
	if more := n - shownFailures; more > 0 {
		fmt.Fprintf(w, "and %d more; `fevalgraph results --failed --tests` lists all\n", more)
	}
	return nil
}
