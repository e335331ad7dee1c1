package view

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Screen shows the successive states of a command: on a terminal each replaces the last, elsewhere it is
// printed below. It does not change the terminal's mode.
type Screen struct {
	w     io.Writer
	lines int // of the terminal; 0 if it cannot be cleared
	used  bool
}

// NewScreen returns the screen of a command that writes to two streams; titles go to err. A screen that
// cannot be cleared is a log.
func NewScreen(out, err io.Writer, lookup func(string) (string, bool)) *Screen {
	s := &Screen{w: err}
	if isTerminal(out) && isTerminal(err) && !unattended(lookup) {
		if _, lines, err := term.GetSize(int(err.(*os.File).Fd())); err == nil {
			s.lines = lines
		}
	}
	return s
}

// Next begins another state, below a title of one line, if it is not "". The content of the terminal before
// the first state can be scrolled back to.
func (s *Screen) Next(title string) {
	var b strings.Builder
	if s.lines > 0 {
		if !s.used {
			b.WriteString(strings.Repeat("\n", s.lines))
		}
		b.WriteString("\x1b[H\x1b[J")
	}
	s.used = true
	if title != "" {
		fmt.Fprintln(&b, text.Line(title, 0))
	}
	io.WriteString(s.w, b.String())
}

// Wait reports that the state stays until something happens.
func (s *Screen) Wait() { fmt.Fprintln(s.w, "watching for changes until it is interrupted") }
