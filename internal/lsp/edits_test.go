package lsp

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// randomEdits is the number of TestRandomEdits' edits, over all examples.
var randomEdits = longtest.Size(400, 2000)

// TestRandomEdits edits the examples at random positions, within anything. After each edit the server must respond; at
// intervals its diagnostics must equal those of validate on the client's text.
func TestRandomEdits(t *testing.T) {
	examples := exampleFiles(t)
	each := randomEdits/len(examples) + 1
	for name, files := range examples {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, uint64(len(name))))
			c := start(t, "{}")
			var uris []string
			for _, file := range files {
				uris = append(uris, c.open(file))
			}
			for i := range each {
				uri := uris[random.IntN(len(uris))]
				c.edit(uri, c.randomRange(random, uri), c.randomText(random, uri))
				if i%5 == 0 {
					c.probe(random, uri)
				}
				if i%10 == 9 {
					c.checkDiagnostics(t, uri)
				}
				if i%50 == 49 { // start again from the correct text
					text := c.textOnDisk(uri)
					c.edit(uri, Range{End: Position{Line: 1 << 20}}, text)
				}
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, line := range c.logged {
				t.Errorf("the server printed %s", line)
			}
		})
	}
}

func (c *client) textOnDisk(uri string) string { return string(readSmall(pathOf(uri))) }

func (c *client) randomPosition(random *rand.Rand, uri string) Position {
	all, starts := units(c.texts[uri])
	line := random.IntN(len(starts))
	end := len(all)
	if line+1 < len(starts) {
		end = starts[line+1]
		for end > starts[line] && (all[end-1] == '\n' || all[end-1] == '\r') {
			end--
		}
	}
	p := Position{Line: line, Character: random.IntN(end - starts[line] + 1)}
	if at := starts[line] + p.Character; at > 0 && at < len(all) && utf16.IsSurrogate(rune(all[at])) && all[at] >= 0xdc00 {
		p.Character-- // no client edits half a character
	}
	return p
}

func (c *client) randomRange(random *rand.Rand, uri string) Range {
	a, b := c.randomPosition(random, uri), c.randomPosition(random, uri)
	if random.IntN(3) > 0 { // an insertion, or a few characters
		b = a
		if random.IntN(2) > 0 {
			b.Character += random.IntN(4)
			all, starts := units(c.texts[uri])
			if at := starts[b.Line] + b.Character; at < len(all) && all[at] >= 0xdc00 && all[at] <= 0xdfff {
				b.Character++
			}
		}
	} else if random.IntN(20) > 0 { // rarely much
		b = Position{Line: a.Line + random.IntN(2), Character: 0}
	}
	if b.Line < a.Line || b.Line == a.Line && b.Character < a.Character {
		a, b = b, a
	}
	return Range{a, b}
}

func (c *client) randomText(random *rand.Rand, uri string) string {
	pieces := append([]string{"problem \"x\" {\n", "}\n", "source = ", "problem.", "local.x", "\"${", "<<EOT\n", "EOT\n", "for_each = {}", "dynamic \"checkpoint\" {", "[", "]", "# ", "/*", "*/"}, hard...)
	var b strings.Builder
	for range random.IntN(3) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	return b.String()
}

// probe sends all requests for a random position.
func (c *client) probe(random *rand.Rand, uri string) {
	c.t.Helper()
	p := c.randomPosition(random, uri)
	for _, method := range []string{"hover", "definition", "completion"} {
		c.call("textDocument/"+method, c.at(uri, p), nil)
	}
}
