package describe

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Notice returns a notice as lines, and whether it is shown even in quiet calls, because it can cost something.
// It returns "" for a notice with diagnostics.
func Notice(n options.Notice) (said string, always bool) {
	switch n := n.(type) {
	case options.SessionsEnded:
		return fmt.Sprintf("ended %d sessions that an earlier run left behind\n", n.Count), false
	case options.Locking:
		return fmt.Sprintf("locking %d requirements for Python %s\n", n.Requirements, n.Python), false
	case options.Machines:
		return n.Text + "\n", false
	case options.ClusterLeft:
		return fmt.Sprintf("warning: %v\n", n.Err), true
	case options.KeyMissing:
		return fmt.Sprintf("warning: %v; later runs cannot verify the results of this run, and execute it again\n", n.Err), true
	case options.RemoteTrouble:
		return fmt.Sprintf("warning: remote cache %s: %v\n", n.Name, n.Err), true
	case options.RemoteSending:
		return fmt.Sprintf("sending %s to the remote cache %s\n", text.Count(n.Results, "result"), n.Name), false
	case options.Untrusted:
		if n.Cache != "" {
			return fmt.Sprintf("warning: this project is not trusted yet, so its remote cache %s was not queried for results;\n  `fevalgraph trust` allows that, and so does `fevalgraph run`\n", n.Cache), true
		}
		return untrusted(n.Asks), true
	case options.SessionsUnknown:
		return fmt.Sprintf("warning: ending leftovers of an earlier run: %v\n", n.Err), true
	case options.SessionLeft:
		return fmt.Sprintf("warning: a session of an earlier run is still running: %v\n", n.Err), true
	case options.JobsReduced:
		return fmt.Sprintf("warning: -j reduced from %d to %d, because only %d files can be open (ulimit -n)\n", n.Wanted, n.Jobs, n.Limit), true
	case options.ForeignRun:
		return fmt.Sprintf("warning: the record of the run in %s is not signed by you and is ignored; only its signed results count\n", text.Line(n.File, 0)), true
	case options.ForeignRecords:
		return ForeignRecords(n.Count), true
	case options.ForeignIgnored:
		return fmt.Sprintf("warning: %s ignored: the store has them, signed with another key;\n  FEVALGRAPH_STORE_KEY names the key of a group, and `fevalgraph cache sign` signs them all,\n  if no one else can write to the store (docs/caching.md)\n", Results(n.Count)), true
	case options.StateForeign:
		return fmt.Sprintf("warning: %s, like other state there without your signature, is ignored: it was written by another user, with another key or for another directory; its checkpoints are judged again\n", text.Line(n.Path, 0)), true
	case options.LockUnhashed:
		return fmt.Sprintf("warning: %s has no hashes of %s, which is installed unchecked; `fevalgraph lock` adds them\n", n.Name, text.Some(n.Pins, 1)), false
	case options.LockRenewed:
		return fmt.Sprintf("warning: %s could not be read and is written again\n", n.Name), true
	}
	return "", false
}

// untrusted warns that commands and queries which identify backends were skipped, and lists some.
func untrusted(asks []string) string {
	const most = 5
	more := ""
	if len(asks) > most {
		asks, more = asks[:most], fmt.Sprintf("  and %d more\n", len(asks)-most)
	}
	list := ""
	for _, ask := range asks {
		list += "  " + text.Line(ask, 0) + "\n"
	}
	return "warning: this project is not trusted yet, so this was not done,\n  and what depends on it is unknown:\n" + list + more +
		"  `fevalgraph trust` allows it, and so does `fevalgraph run`\n"
}

// ForeignRecords returns a warning about n records of packs with foreign signatures, or "".
func ForeignRecords(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("warning: %s not signed by you and left out; FEVALGRAPH_STORE_KEY names the key of a group,\n  and --sign accepts any signature\n", Records(n))
}

// Results begins a sentence about n results.
func Results(n int) string {
	if n == 1 {
		return "1 result was"
	}
	return text.Count(n, "result") + " were"
}

// Records begins a sentence about n records.
func Records(n int) string {
	if n == 1 {
		return "1 record was"
	}
	return text.Count(n, "record") + " were"
}
