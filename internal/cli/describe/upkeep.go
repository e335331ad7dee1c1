package describe

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Cleaned is what was removed, as lines; whole says that no error kept anything from it.
func Cleaned(c *upkeep.Cleaned, whole bool) string {
	var b strings.Builder
	for _, removed := range c.Containers {
		which := ""
		if removed.Built > 0 {
			which = fmt.Sprintf(", %d of which built from a Dockerfile,", removed.Built)
		}
		if removed.Networks > 0 {
			fmt.Fprintf(&b, "removed %s from %s\n", text.Count(removed.Networks, "network"), removed.Host)
		}
		fmt.Fprintf(&b, "removed %s and %s%s from %s\n", text.Count(removed.Containers, "container"), text.Count(removed.Images, "image"), which, removed.Host)
	}
	for _, name := range c.Clusters {
		fmt.Fprintf(&b, "ended cluster %s\n", name)
	}
	switch {
	case !whole:
	case c.State != "":
		fmt.Fprintf(&b, "removed %s\n", text.Line(c.State, 0))
	default:
		fmt.Fprintf(&b, "ended %d leftover sessions, removed %d of %d run records\n", c.Sessions, c.Removed, c.Runs)
	}
	return b.String()
}

// Store are the fields of a store.
func Store(s *upkeep.StoreStats) [][]string {
	fields := [][]string{
		{"directory", s.Dir},
		{"blobs", fmt.Sprintf("%d (%s)", s.Blobs, text.Bytes(s.BlobBytes))},
		{"records", fmt.Sprintf("%d (%s)", s.Records, text.Bytes(s.RecordBytes))},
	}
	if !s.Oldest.IsZero() {
		fields = append(fields, []string{"least recently used", s.Oldest.Format(time.DateTime)}, []string{"most recently used", s.Newest.Format(time.DateTime)})
	}
	if served := s.Served; served.Runs > 0 {
		fields = append(fields,
			[]string{"hits", fmt.Sprintf("%d in %s of this project", served.Hits, text.Count(served.Runs, "run"))},
			[]string{"misses", strconv.Itoa(served.Misses)},
			[]string{"bytes saved", text.Bytes(served.Bytes)},
			[]string{"time saved", text.Duration(served.Time)})
	}
	return fields
}
