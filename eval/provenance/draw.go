package provenance

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Draw selects up to n verdicts at random. The choice depends on the signed digest and a seed, so that every verifier
// selects the same; the signer cannot predict it if the seed was unknown when the bundle was signed.
func (c *Checked) Draw(n int, seed string) []Verdict {
	type ticket struct {
		number [sha256.Size]byte
		at     int
	}
	var tickets []ticket
	for i := range c.Entries.Verdicts {
		if v := &c.Entries.Verdicts[i]; v.Node != nil {
			tickets = append(tickets, ticket{sha256.Sum256([]byte(c.Digest + "\x00" + seed + "\x00" + v.Name())), i})
		}
	}
	slices.SortFunc(tickets, func(a, b ticket) int { return bytes.Compare(a.number[:], b.number[:]) })
	var drawn []Verdict
	for _, t := range tickets[:min(n, len(tickets))] {
		drawn = append(drawn, c.Entries.Verdicts[t.at])
	}
	return drawn
}

// Below returns a node and its dependencies, sources first.
func (c *Checked) Below(key cache.Key) []Node {
	byKey := map[cache.Key]*Node{}
	for i := range c.Entries.Nodes {
		byKey[c.Entries.Nodes[i].Key] = &c.Entries.Nodes[i]
	}
	var all []Node
	seen := map[cache.Key]bool{}
	var add func(cache.Key)
	add = func(key cache.Key) {
		n := byKey[key]
		if n == nil || seen[key] {
			return
		}
		seen[key] = true
		for _, input := range n.Inputs {
			add(input)
		}
		all = append(all, *n)
	}
	add(key)
	return all
}
