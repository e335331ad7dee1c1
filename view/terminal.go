package view

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Terminal returns the terminal behind a stream, if it is one.
func Terminal(stream any) (*os.File, bool) {
	file, ok := stream.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

func isTerminal(w io.Writer) bool {
	_, is := Terminal(w)
	return is
}

// Columns returns the width of the terminal behind w, or 0.
func Columns(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// unattended reports whether no user watches the terminal, or it cannot move
// its cursor.
func unattended(lookup func(string) (string, bool)) bool {
	ci, _ := lookup("CI")
	term, _ := lookup("TERM")
	return ci != "" && ci != "false" && ci != "0" || term == "dumb"
}
