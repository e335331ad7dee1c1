package cli

import (
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/view"
)

// breakWorkflowCommands keeps GitHub Actions from interpreting output as commands: names and logs come from
// submissions. It does not change output to files and terminals, and the protocols of other commands.
func (a *app) breakWorkflowCommands(cmd *cobra.Command) {
	if actions, _ := a.io.LookupEnv("GITHUB_ACTIONS"); actions != "true" || !relevant(cmd, "chdir") {
		return
	}
	bracket := " ["
	if format := cmd.Flags().Lookup("format"); a.flags.json || format != nil && format.Value.String() == "json" {
		bracket = `\u005b` // "##" only occurs in JSON strings
	}
	if isRead(a.io.Out) {
		a.io.Out = &commandBreaker{w: a.io.Out, bracket: bracket, start: true}
	}
	if isRead(a.io.Err) {
		a.io.Err = &commandBreaker{w: a.io.Err, bracket: " [", start: true}
	}
}

// isRead reports whether Actions reads output to w.
func isRead(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	if _, terminal := view.Terminal(w); terminal {
		return false
	}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		return err != nil || !info.Mode().IsRegular()
	}
	return true
}

// commandBreaker writes text without workflow commands: "##[" anywhere, and "::" at the
// beginning of a line. Actions trims Unicode's white space there, so all that is not visible ASCII counts as such.
type commandBreaker struct {
	mu      sync.Mutex // an interrupt is reported while other output is written
	w       io.Writer
	bracket string // replaces "[" after "##"
	hashes  int    // number of "#" just written
	start   bool   // nothing but white space was written in this line
	colon   bool   // followed by a colon
}

// Write implements io.Writer. Text can be split anywhere.
func (b *commandBreaker) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]byte, 0, len(text)+16)
	for _, c := range text {
		switch {
		case c == '[' && b.hashes > 1:
			out = append(out, b.bracket...)
		case c == ':' && b.colon:
			out = append(out, ' ', c)
		default:
			out = append(out, c)
		}
		if b.colon = c == ':' && b.start; c == '#' {
			b.hashes++
		} else {
			b.hashes = 0
		}
		b.start = c == '\n' || c == '\r' || b.start && (c <= ' ' || c >= 0x7f)
	}
	if _, err := b.w.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// underlyingWriter returns the writer below w, for our own commands.
func underlyingWriter(w io.Writer) io.Writer {
	if b, ok := w.(*commandBreaker); ok {
		return b.w
	}
	return w
}
