package describe

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Trusted returns lines about the permissions of a project: for the backends and the generators of its
// configuration.
func Trusted(root string, all []user.Trusted) string {
	if len(all) == 0 {
		return text.Line(root, 0) + " contains nothing that needs trust\n"
	}
	return "trusted " + text.Line(root, 0) + allowed(all)
}

// Trusting returns lines about what trusting a project would permit.
func Trusting(root string, all []user.Trusted) string {
	return "to trust " + text.Line(root, 0) + allowed(all)
}

// allowed lists what commands can do in a trusted project.
func allowed(all []user.Trusted) string {
	isGenerator := func(t user.Trusted) bool { return strings.HasPrefix(t.Addr, "generator.") }
	asks := permissions("; to identify its backends, read-only commands can", all, func(t user.Trusted) bool { return !isGenerator(t) })
	may := "; gen can"
	if asks != "" {
		may = "gen can"
	}
	return asks + permissions(may, all, isGenerator)
}

// permissions lists the permissions of the entries that meant selects, each line once, or returns "".
func permissions(may string, all []user.Trusted, meant func(user.Trusted) bool) string {
	list := ""
	said := map[string]bool{}
	for _, b := range all {
		for _, ask := range b.Asks {
			if line := fmt.Sprintf("  %s: %s\n", text.Line(b.Addr, 0), text.Line(ask, 0)); meant(b) && !said[line] {
				said[line] = true
				list += line
			}
		}
	}
	if list != "" {
		list = may + "\n" + list
	}
	return list
}
