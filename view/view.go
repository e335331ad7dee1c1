package view

import (
	"io"
	"os"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Mode selects how progress is shown.
type Mode string

const (
	Auto  Mode = "auto"  // Live on a terminal, else Plain
	Live  Mode = "live"  // a bar and the running nodes, redrawn in place
	Plain Mode = "plain" // a line for each node that ran
	JSON  Mode = "json"  // the event stream on Out
	None  Mode = "none"  // nothing
)

// ParseMode returns the mode with a name; the error for an unknown name lists all modes.
func ParseMode(s string) (Mode, error) {
	var known []string
	for _, m := range []Mode{Auto, Live, Plain, JSON, None} {
		if string(m) == s {
			return m, nil
		}
		known = append(known, string(m))
	}
	return "", text.Unknown("progress mode", s, known)
}

// Options configures a View. The zero value is valid.
type Options struct {
	Out, Err io.Writer // nil means os.Stdout and os.Stderr
	Color    bool
	// Verbose adds the start of nodes, and causes in full.
	Verbose bool
	Quiet   bool // makes every mode but JSON None
	Width   int  // maximum width in columns; 0 means no limit or, for Live, the terminal's width
	Now     func() time.Time
	// LookupEnv lets Auto see CI and TERM; nil means an empty environment.
	LookupEnv func(string) (string, bool)
}

// View shows the events of one run. Emit follows the contract of event.Sink.
type View interface {
	event.Sink
	// Close stops redrawing, and returns the first error of writing. It is idempotent; later events are
	// ignored.
	Close() error
}

// New returns the view for mode. A View can use goroutines until Close.
func New(mode Mode, o Options) View {
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Err == nil {
		o.Err = os.Stderr
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	if o.Quiet && mode != JSON {
		mode = None
	}
	switch mode {
	case JSON:
		return newJSONView(o)
	case None:
		return quietView{}
	case Live:
		return newLiveView(o)
	case Auto:
		if isTerminal(o.Err) && !unattended(o.LookupEnv) {
			return newLiveView(o)
		}
	}
	v := newPlainView(o)
	v.startHeartbeat()
	return v
}

// quietView shows nothing.
type quietView struct{}

func (quietView) Emit(event.Event) {}
func (quietView) Close() error     { return nil }
