package gen

import (
	"encoding/json"

	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Estimates are rough: a token of code or English is about four bytes, and what an answer has
// is known once there were some.
const (
	bytesPerToken = 4
	usualAnswer   = 2000 // tokens, before there is any answer
)

// estimate is what a prompt may take.
func (g *Generator) estimate(prompt int) model.Usage {
	return model.Usage{InputTokens: int64(prompt+len(g.System))/bytesPerToken + 1, OutputTokens: g.usualOutput()}
}

// usualOutput is the mean of the answers so far or, before there are any, their limit.
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

// Estimate is about what the request of a step would take, after a dry run. whole says that
// its prompt is known; otherwise it is longer, by the code of the checkpoint before.
func (s *Step) Estimate(rep *graph.Report) (u Usage, whole bool) {
	length := 0
	if o, ok := rep.Status(s.Prompt).Output(promptOutput); ok {
		length, whole = int(o.Digest.Size), true
	} else {
		p := prompting{g: s.Generator, problem: s.Problem, check: s.Checkpoint, attempt: s.Attempt}
		p.spec, _ = readSpec(s.Checkpoint.Spec) // which is reported when it is asked
		text, _ := p.text("")
		length = len(text)
	}
	return s.Generator.of(s.Generator.estimate(length)), whole
}
