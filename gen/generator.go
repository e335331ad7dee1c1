package gen

import (
	"path"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/gen/keypool"
	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Generator is a generator block with its model.
type Generator struct {
	*lang.Generator
	Who    []Field // identifies the model: an endpoint, or a program
	Model  model.Model
	Keys   *keypool.Pool
	Budget *Budget // shared by all generators of a call

	mu       sync.Mutex
	wrong    error // every request would fail
	rejected int   // refused requests, before the first answer
	spent    Usage
}

// Field is a part of an identity.
type Field struct{ Label, Value string }

// Usage is the cost of answers.
type Usage struct {
	Requests int
	model.Usage
	Cost float64 // dollars; 0 without a price
}

// Add adds the usage of other answers.
func (u *Usage) Add(more Usage) {
	u.Requests += more.Requests
	u.InputTokens += more.InputTokens
	u.OutputTokens += more.OutputTokens
	u.Cost += more.Cost
}

// of returns the usage of one answer.
func (g *Generator) of(u model.Usage) Usage { return Usage{Requests: 1, Usage: u, Cost: g.cost(u)} }

// Asked returns the usage of this call's answers.
func (g *Generator) Asked() Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spent
}

func (g *Generator) answered(u model.Usage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spent.Add(g.of(u))
}

// cost returns the price of tokens, in dollars.
func (g *Generator) cost(u model.Usage) float64 {
	if g.Price == nil {
		return 0
	}
	return (float64(u.InputTokens)*g.Price.Input + float64(u.OutputTokens)*g.Price.Output) / 1e6
}

// giveUp makes every further request of the generator fail at once.
func (g *Generator) giveUp(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrong == nil {
		g.wrong = why
	}
}

// mostRejected bounds the requests that can be refused as wrong before the first answer.
const mostRejected = 5

// rejects counts a request that was refused as wrong, and reports whether all of them seem to be: several
// were refused, and none was answered.
func (g *Generator) rejects() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rejected++
	return g.spent.Requests == 0 && g.rejected >= mostRejected
}

func (g *Generator) givenUp() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.wrong
}

// unnamed returns the path of code that an answer does not name; "" drops such code.
func unnamed(g *lang.Generator, p *lang.Problem) string {
	if g.File != "" {
		return g.File
	}
	words := strings.Fields(p.Entry)
	for i := len(words) - 1; i >= 0; i-- {
		if word := path.Clean(words[i]); path.Ext(word) != "" && path.Ext(word) != word && !path.IsAbs(word) && !strings.HasPrefix(word, "..") {
			return word
		}
	}
	switch {
	case p.Judge != nil && p.Judge.Language == lang.LanguagePython:
		return "solution.py"
	case p.Judge != nil:
		return "solution.cpp"
	case p.Command != nil:
		return "solution.py"
	}
	return ""
}
