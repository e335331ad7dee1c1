package view

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// repeats counts nodes that ended in the same way for the same reason, so that a cause such as a missing
// program is shown only once.
type repeats struct {
	more  map[string]int // number of nodes after the first, by line
	order []string
}

// isRepeated reports whether an earlier node ended in the same way. It returns false for a node without a
// message.
func (r *repeats) isRepeated(e event.NodeDone) bool {
	if !needsAttention(e.State) || e.Message == "" || e.State == event.Timeout {
		return false
	}
	return r.count(strings.ToUpper(string(e.State)), e.Message)
}

// isRepeatedRetry is like again, for attempts that broke.
func (r *repeats) isRepeatedRetry(e event.NodeRetry) bool { return r.count("retry", e.Reason) }

func (r *repeats) count(word, message string) bool {
	line := word + "\x00" + text.FirstLine(message)
	if _, known := r.more[line]; known {
		r.more[line]++
		return true
	}
	if r.more == nil {
		r.more = map[string]int{}
	}
	r.more[line] = 0
	r.order = append(r.order, line)
	return false
}

// summary returns a line for each cause that several nodes had, below a prefix:
//
//	BROKEN      and 41 more nodes: uv is not installed
func (r *repeats) summary(l lines, prefix string) string {
	var b strings.Builder
	for _, line := range r.order {
		more := r.more[line]
		if more == 0 {
			continue
		}
		word, message, _ := strings.Cut(line, "\x00")
		head := l.head(prefix, l.palette.Doubt(word), fmt.Sprintf("and %s: ", text.Count(more, "more node")))
		b.WriteString(head + l.cut(text.Line(message, 0), text.Width(head)) + "\n")
	}
	return b.String()
}
