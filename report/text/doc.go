// Package text escapes strings from elsewhere for display, and formats short facts: widths, color, columns,
// durations and sizes.
//
//	text.Line("boom\n\x1b[31m", 0)   `boom\n\x1b[31m`
//	text.Duration(190)               "3m10s"
//	text.Bytes(1536)                 "1.5 KiB"
//
// The code under evaluation writes the messages of tests. They can contain escape sequences that repaint a
// terminal, NUL bytes, broken UTF-8, or a megabyte without a newline, and must not change the rest of the page.
// Package text does not depend on results or events, and writes nothing itself.
package text
