package describe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/generate"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// shownReasons limits the listed solutions without code.
const shownReasons = 10

// Remarks returns lines about solutions whose answer differs from their files, or has no usable or several blocks of
// code. progress
// means that those of this call's requests were shown already.
func Remarks(placed []gen.Placed, progress bool) string {
	var b strings.Builder
	shown := 0
	for _, p := range placed {
		if p.Outcome == gen.Edited || p.Outcome == gen.Written && p.Reason != "" || p.Outcome == gen.Unusable && !(p.Asked && progress) {
			if shown++; shown <= shownReasons {
				reason := p.Reason
				if p.Outcome == gen.Edited {
					reason = "its files were edited since and are kept; remove them to write the answer"
				}
				fmt.Fprintf(&b, "%s %s: %s\n", p.Outcome, p.Step.Name(), reason)
			}
		}
	}
	if shown > shownReasons {
		fmt.Fprintf(&b, "and %d more\n", shown-shownReasons)
	}
	return b.String()
}

// Unanswered returns the reasons why requests have no answer.
func Unanswered(placed []gen.Placed) (reasons []view.Reason) {
	for _, p := range placed {
		if p.Outcome == gen.NoAnswer {
			reasons = append(reasons, view.Reason{What: fmt.Sprintf("%s %s", gen.NoAnswer, p.Step.Name()), Why: p.Reason})
		}
	}
	return reasons
}

// Generated returns the header and the rows of a table that counts the outcomes of solutions, by generator.
func Generated(placed []gen.Placed) (header []string, rows [][]string) {
	outcomes := []gen.Outcome{gen.Written, gen.Same, gen.Kept, gen.Edited, gen.Unusable, gen.NoAnswer}
	counts := map[string]map[gen.Outcome]int{}
	usage := map[string]*gen.Usage{}
	var names []string
	seen := map[gen.Outcome]bool{}
	priced := map[string]bool{}
	for _, p := range placed {
		name := p.Step.Generator.Name
		if counts[name] == nil {
			names = append(names, name)
			counts[name], usage[name], priced[name] = map[gen.Outcome]int{}, &gen.Usage{}, p.Step.Generator.Price != nil
		}
		counts[name][p.Outcome]++
		seen[p.Outcome] = true
		usage[name].Add(p.Usage)
	}
	header = []string{"generator"}
	for _, o := range outcomes {
		if seen[o] {
			header = append(header, string(o))
		}
	}
	tokens, anyPrice := int64(0), false
	for _, name := range names {
		tokens += usage[name].InputTokens + usage[name].OutputTokens
		anyPrice = anyPrice || priced[name]
	}
	if tokens > 0 {
		header = append(header, "tokens")
	}
	if anyPrice {
		header = append(header, "cost")
	}
	for _, name := range names {
		row := []string{name}
		for _, o := range outcomes {
			if seen[o] {
				row = append(row, strconv.Itoa(counts[name][o]))
			}
		}
		u := usage[name]
		if tokens > 0 {
			row = append(row, text.Thousands(int(u.InputTokens+u.OutputTokens)))
		}
		switch {
		case priced[name]:
			row = append(row, dollars(u.Cost))
		case anyPrice:
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	return header, rows
}

// Took returns the usage of requests, actual or expected, as the rest of a sentence.
func Took(u gen.Usage, priced bool) string {
	if u.InputTokens+u.OutputTokens == 0 {
		return ""
	}
	said := fmt.Sprintf(": %s tokens in, %s out", text.Thousands(int(u.InputTokens)), text.Thousands(int(u.OutputTokens)))
	if priced {
		said += ", " + dollars(u.Cost)
	}
	return said
}

// dollars formats an amount that can be far below a cent.
func dollars(sum float64) string {
	if sum > 0 && sum < 0.1 {
		return fmt.Sprintf("$%.4f", sum)
	}
	return fmt.Sprintf("$%.2f", sum)
}

// Planned returns the rows of a table of requests that would be sent, and a line with the totals.
func Planned(out *generate.Outcome) (rows Rows, sum string) {
	rows.Header = []string{"", "solution", "tokens of the prompt", "cause"}
	for _, p := range out.Planned {
		about := text.Thousands(int(p.About.InputTokens))
		switch {
		case p.Wrong != "":
			rows.Values = append(rows.Values, []any{"x", p.Step.Name(), "", p.Wrong})
			continue
		case !p.Whole:
			about += " and the code before"
		}
		cause := p.Cause
		if p.After != "" {
			cause = "follows " + p.After
		}
		rows.Values = append(rows.Values, []any{"+", p.Step.Name(), about, cause})
	}
	about := Took(out.Asked, out.Priced)
	if about != "" {
		about = "; about" + strings.TrimPrefix(about, ":")
	}
	return rows, fmt.Sprintf("would request %d, %d answered before%s\n", out.Asked.Requests, out.Known, about)
}

// PlannedObject is Planned as JSON.
type PlannedObject struct {
	Schema       int              `json:"schema"`
	Requests     []PlannedRequest `json:"requests"`
	Answered     int              `json:"answered"`
	InputTokens  int64            `json:"input_tokens"`
	OutputTokens int64            `json:"output_tokens"`
	Cost         *float64         `json:"cost,omitempty"` // dollars; missing without prices
}

// PlannedRequest is a request in a PlannedObject.
type PlannedRequest struct {
	Generator    string `json:"generator"`
	Problem      string `json:"problem"`
	Checkpoint   string `json:"checkpoint"`
	Attempt      int    `json:"attempt"`
	Cause        string `json:"cause"`
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	Whole        bool   `json:"whole"`
	Error        string `json:"error,omitempty"`
}

// PlannedJSON returns Planned for programs.
func PlannedJSON(out *generate.Outcome) *PlannedObject {
	object := &PlannedObject{Schema: 1, Requests: []PlannedRequest{}, Answered: out.Known, InputTokens: out.Asked.InputTokens, OutputTokens: out.Asked.OutputTokens}
	for _, p := range out.Planned {
		s := p.Step
		object.Requests = append(object.Requests, PlannedRequest{Generator: s.Generator.Name, Problem: s.Problem.Name, Checkpoint: s.Checkpoint.Name, Attempt: s.Attempt,
			Cause: p.Cause, InputTokens: p.About.InputTokens, OutputTokens: p.About.OutputTokens, Whole: p.Whole, Error: p.Wrong})
	}
	if out.Priced {
		object.Cost = &out.Asked.Cost
	}
	return object
}
