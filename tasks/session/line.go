package session

import (
	"bytes"
	"strings"
)

// LastLine returns the last line of a text without trailing blanks.
func LastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimSpace(string(text))
}
