package lsp

import (
	"sort"
	"unicode/utf8"
)

// Position is a position between characters: a line from 0, and UTF-16 code units in it.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is the text between two positions.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// lines indexes the lines of a text, to convert positions to bytes and back. They end with \n, \r\n or \r.
type lines struct {
	text   []byte
	starts []int // byte at which each line begins
}

func newLines(text []byte) lines {
	l := lines{text: text, starts: []int{0}}
	for i, b := range text {
		if b == '\n' || b == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// end returns the byte at which a line's text ends.
func (l lines) end(line int) int {
	if line+1 == len(l.starts) {
		return len(l.text)
	}
	end := l.starts[line+1]
	for end > l.starts[line] && (l.text[end-1] == '\n' || l.text[end-1] == '\r') {
		end--
	}
	return end
}

// offset returns the byte of a position. A position beyond the end of a line or of the text is clamped to
// that end, and a position inside a character to its start.
func (l lines) offset(p Position) int {
	if p.Line < 0 || p.Line >= len(l.starts) {
		if p.Line < 0 {
			return 0
		}
		return len(l.text)
	}
	at, end := l.starts[p.Line], l.end(p.Line)
	for units := 0; at < end; {
		r, size := utf8.DecodeRune(l.text[at:end])
		if units += unitsOf(r); units > p.Character {
			break
		}
		at += size
	}
	return at
}

// position returns the position of a byte. A byte within a character is moved to its start.
func (l lines) position(offset int) Position {
	offset = min(max(offset, 0), len(l.text))
	line := sort.SearchInts(l.starts, offset+1) - 1
	p := Position{Line: line}
	for at := l.starts[line]; at < offset; {
		r, size := utf8.DecodeRune(l.text[at:])
		if at += size; at > offset {
			break
		}
		p.Character += unitsOf(r)
	}
	return p
}

func (l lines) between(start, end int) Range {
	return Range{Start: l.position(start), End: l.position(end)}
}

// unitsOf returns how many UTF-16 code units a character has. An invalid byte has one, like the replacement
// character that clients show for it.
func unitsOf(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}
