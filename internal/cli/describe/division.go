package describe

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Division returns lines about how cells are divided among machines.
func Division(d *shards.Division) string {
	if len(d.Shards) == 0 {
		return fmt.Sprintf("nothing is stale, so no shards are needed; %s\n", text.Count(d.Fresh, "fresh cell"))
	}
	var b strings.Builder
	stale := 0
	for _, s := range d.Shards {
		stale += len(s.Cells)
		fmt.Fprintf(&b, "shard %d/%d  %s  about %s\n", s.Shard, s.Of, text.Count(len(s.Cells), "cell"), text.Duration(s.Seconds/float64(d.Jobs)))
	}
	guess := ""
	if d.Guessed > 0 {
		guess = fmt.Sprintf("; how long %d of them take is a guess", d.Guessed)
	}
	fmt.Fprintf(&b, "%s, %d fresh%s\n", text.Count(stale, "stale cell"), d.Fresh, guess)
	if len(d.Shared) > 0 {
		fmt.Fprintf(&b, "several shards need %s; if one is not reproducible, run it once before them: fevalgraph run --cells FILE --shard shared\n", text.Some(d.Shared, 3))
	}
	return b.String()
}
