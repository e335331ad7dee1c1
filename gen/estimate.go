package gen

import (
	"encoding/json"

	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Estimates are rough: a token of code or English is about four bytes, and the size of an answer is
// estimated from the answers so far.
const (
	bytesPerToken = 4
	usualAnswer   = 2000 // tokens, before the first answer
)

// estimate returns the expected token usage of a prompt.
func (g *Generator) estimate(prompt int) model.Usage {
	return model.Usage{InputTokens: int64(prompt+len(g.System))/bytesPerToken + 1, OutputTokens: g.usualOutput()}
}

// usualOutput returns the mean of the answers so far or, before the first, their limit.
func (g *Generator) usualOutput() int64 {
	if u := g.Asked(); u.Requests > 0 && u.OutputTokens > 0 {
		return u.OutputTokens / int64(u.Requests)
	}
	var limits struct {
		Tokens     int64 `json:"max_tokens"`
		Completion int64 `json:"max_completion_tokens"`
	}
	_ = json.Unmarshal([]byte(g.Parameters), &limits) // another type is for the endpoint to refuse
	if limit := max(limits.Tokens, limits.Completion); limit > 0 {
		return limit
	}
	return usualAnswer
}

// Estimate returns the approximate usage of a step's request, after a dry run. whole reports that its prompt
// is known; otherwise the prompt is longer, by the code of the checkpoint before.
func (s *Step) Estimate(rep *graph.Report) (u Usage, whole bool) {
	length := 0
	if o, ok := rep.Status(s.Prompt).Output(promptOutput); ok {
		length, whole = int(o.Digest.Size), true
	} else {
		p := prompting{g: s.Generator, problem: s.Problem, check: s.Checkpoint, attempt: s.Attempt}
		p.spec, _ = readSpec(s.Checkpoint.Spec) // the request reports it
		text, _ := p.text("")
		length = len(text)
	}
	return s.Generator.of(s.Generator.estimate(length)), whole
}
