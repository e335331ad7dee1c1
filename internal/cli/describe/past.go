package describe

import (
	"cmp"
	"fmt"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/generate"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// Past returns the requests of a recorded call of gen and their causes, as text that fits a page.
func Past(past *generate.Past, page text.Page) string {
	palette := text.NewPalette(page.Color)
	grid := text.Grid{}
	for _, title := range []string{"solution", "request", "files", "cause"} {
		grid.Header = append(grid.Header, palette.Strong(title))
	}
	for i := range past.Decisions {
		d := &past.Decisions[i]
		grid.Rows = append(grid.Rows, []string{text.Line(d.Name, 0), requestAction(d), text.Line(filesResult(d), 0), text.Line(requestCause(d), 0)})
	}
	grid.Spare = []int{2} // causes are the purpose of the table: files shrink first
	return fmt.Sprintf("%s of %s: %s\n\n%s", text.Line(past.Start.Run, 0), past.Start.Time.Local().Format(time.DateTime), callResult(past), grid.On(page).Text())
}

// PastCounts returns how many requests a call sent, and how many had been answered.
func PastCounts(past *generate.Past) (sent, answered int) {
	for i := range past.Decisions {
		switch requestAction(&past.Decisions[i]) {
		case asked:
			sent++
		case served:
			answered++
		}
	}
	return sent, answered
}

// Frequent actions of a call for a request.
const (
	asked  = "asked"
	served = "answered"
)

// requestAction returns a call's action for a request as a word.
func requestAction(d *generate.Decision) string {
	switch {
	case d.Node.Kind == gen.KindSources:
		return "left alone"
	case d.Node.State == event.Done:
		return asked
	case d.Node.State == event.Cached:
		return served
	}
	return string(d.Node.State)
}

// requestCause returns the cause of a request; for a changed prompt, the cause of the change.
func requestCause(d *generate.Decision) string {
	cause := d.Node.Cause
	switch {
	case d.Node.Kind == gen.KindSources:
		return "files, or a .FAILED, exist"
	case d.Node.Category == event.CauseNew:
		cause = "never requested"
	case d.Node.Category == event.CauseForced:
		cause = "--again"
	}
	for _, c := range d.Node.Changes {
		if c.Via == d.Prompt.Addr && d.Prompt.State == event.Done {
			cause = d.Prompt.Cause
		}
	}
	return cause
}

// filesResult returns the result for the files, and why they are missing.
func filesResult(d *generate.Decision) string {
	switch {
	case d.Made == nil:
		return cmp.Or(d.Node.Message, d.Prompt.Message, "-")
	case d.Made.Reason != "":
		return d.Made.Outcome + ": " + d.Made.Reason
	}
	return d.Made.Outcome
}

// callResult describes the result of a call.
func callResult(p *generate.Past) string {
	if !p.Ended {
		return "running, or killed"
	}
	return fmt.Sprintf("%s, exit code %d", text.Duration(p.End.Seconds), p.End.Exit)
}

// PastObject is a recorded call of gen as JSON.
type PastObject struct {
	Schema   int           `json:"schema"`
	Run      string        `json:"run"`
	Start    time.Time     `json:"start"`
	Ended    bool          `json:"ended"`
	Seconds  float64       `json:"seconds"`
	Exit     int           `json:"exit"`
	Requests []PastRequest `json:"requests"`
}

// PastRequest is a request in a PastObject.
type PastRequest struct {
	Solution      string         `json:"solution"`
	Request       string         `json:"request"`
	Cause         string         `json:"cause"`
	Changes       []event.Change `json:"changes"`
	PromptChanges []event.Change `json:"prompt_changes"`
	Key           string         `json:"key,omitempty"`
	*Made
}

// Made describes the files of an answer, and its cost.
type Made struct {
	Files        string   `json:"files"`
	Reason       string   `json:"reason"`
	Path         string   `json:"path"`
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	Cost         *float64 `json:"cost,omitempty"` // dollars
}

// PastJSON returns a recorded call of gen for programs.
func PastJSON(p *generate.Past) *PastObject {
	object := &PastObject{Schema: 1, Run: p.Start.Run, Start: p.Start.Time, Ended: p.Ended, Seconds: p.End.Seconds, Exit: p.End.Exit, Requests: []PastRequest{}}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		one := PastRequest{Solution: d.Name, Request: requestAction(d), Cause: requestCause(d), Changes: view.OrEmpty(d.Node.Changes), PromptChanges: view.OrEmpty(d.Prompt.Changes), Key: d.Node.Key}
		if m := d.Made; m != nil {
			one.Made = &Made{Files: m.Outcome, Reason: m.Reason, Path: m.Path, InputTokens: m.InputTokens, OutputTokens: m.OutputTokens, Cost: m.Cost}
		}
		object.Requests = append(object.Requests, one)
	}
	return object
}
