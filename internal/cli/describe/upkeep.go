package describe

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Cleaned returns lines about what was removed, or would be; whole means that no error prevented a removal.
func Cleaned(c *upkeep.Cleaned, dryRun, whole bool) string {
	var b strings.Builder
	removed, ended := "removed", "ended"
	if dryRun {
		removed, ended = "would remove", "would end"
	}
	for _, gone := range c.Containers {
		which := ""
		if gone.Built > 0 {
			which = fmt.Sprintf(", %d of which built from a Dockerfile,", gone.Built)
		}
		if gone.Networks > 0 {
			fmt.Fprintf(&b, "removed %s from %s\n", text.Count(gone.Networks, "network"), gone.Host)
		}
		fmt.Fprintf(&b, "removed %s and %s%s from %s\n", text.Count(gone.Containers, "container"), text.Count(gone.Images, "image"), which, gone.Host)
	}
	for _, name := range c.Clusters {
		fmt.Fprintf(&b, "%s cluster %s\n", ended, name)
	}
	switch {
	case !whole:
	case c.State != "":
		fmt.Fprintf(&b, "%s %s\n", removed, text.Line(c.State, 0))
	default:
		fmt.Fprintf(&b, "%s %d leftover sessions, %s %d of %d run records\n", ended, c.Sessions, removed, c.Removed, c.Runs)
	}
	return b.String()
}

// Store returns the fields of a store.
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
			[]string{"misses", strconv.Itoa(served.Misses)})
	}
	return fields
}
