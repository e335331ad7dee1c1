// Package text makes strings that came from elsewhere fit to be shown, and
// lays short facts out for people: escaping, widths, colour, columns,
// durations and sizes.
//
//	text.Line("boom\n\x1b[31m", 0)   `boom\n\x1b[31m`
//	text.Duration(190)               "3m10s"
//	text.Bytes(1536)                 "1.5 KiB"
//
// A test's message is written by the code under evaluation. It may hold
// escape sequences that repaint a terminal, NUL bytes, broken UTF-8 or a
// megabyte without a newline; none of it may change what the rest of the page
// says. Package text knows nothing of results or events and writes to nothing
// by itself.
package text
