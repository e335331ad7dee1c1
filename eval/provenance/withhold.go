package provenance

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Withheld lists the kinds of content that a bundle can omit.
var Withheld = []string{"logs", "tests"}

// openKinds lists kinds of nodes whose manifests reveal nothing about tests, not even the names of their files.
var openKinds = []string{plan.KindSubmission, plan.KindAggregate, plan.KindContext, plan.KindImage}

// Kinds of blobs in a bundle.
const (
	isManifest = "manifest"
	isResult   = "result"
	isLog      = "log"
)

// part is a blob in a bundle.
type part struct {
	kind string // isManifest ...
	addr string // the node's address
	name string // of the output
	cache.Digest
}

// parts returns the blobs of a bundle for entries if some content is withheld. Manifests have the size 0. Tests
// and submissions are not included, only their digests.
func (e *Entries) parts(withhold []string) []part {
	noTests, noLogs := slices.Contains(withhold, "tests"), slices.Contains(withhold, "logs")
	var all []part
	results := map[cache.Key]bool{}
	for i := range e.Verdicts {
		if v := &e.Verdicts[i]; v.Node != nil {
			results[*v.Node] = true
			if !noTests {
				all = append(all, part{isResult, v.Name(), "", *v.Result})
			}
		}
	}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		if !noTests || slices.Contains(openKinds, n.Kind) {
			all = append(all, part{isManifest, n.Addr, "", cache.Digest{Hash: n.Key}})
		}
		if noTests || noLogs || results[n.Key] || !strings.Contains(n.Addr, "@") {
			continue
		}
		for _, o := range n.Outputs {
			if !o.Tree {
				all = append(all, part{isLog, n.Addr, o.Name, o.Digest})
			}
		}
	}
	return all
}
