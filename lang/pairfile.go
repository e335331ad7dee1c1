package lang

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// filePair is one line of a list.
type filePair struct {
	Solution, Problem string     // neither is empty
	Text              string     // the line without the spaces around it
	Range             diag.Range // of Text
}

// hintPair describes the form of a line.
const hintPair = "a line is SOLUTION:PROBLEM; lines that begin with # are comments"

// parsePairs reads a list. Empty lines, and lines that begin with #, are ignored. Lines can end as on
// Windows, and the text can begin with a byte order mark. The first colon of a line ends the solution. A
// malformed line is a finding, as is an empty list; findings name file.
func parsePairs(file string, content []byte) ([]filePair, diag.List) {
	if encoding := wideEncoding(content); encoding != "" {
		return nil, diag.List{{
			Severity: diag.Error, Code: "not-utf8", Summary: "Not UTF-8 text",
			Detail: fmt.Sprintf("%q is %s text.", file, encoding), Hint: "save it as UTF-8", Range: lineRange(file, 1, 0, 0, 0),
		}}
	}
	mark := []byte("\ufeff")
	at := len(content)
	content = bytes.TrimPrefix(content, mark)
	at -= len(content)
	var found []filePair
	var findings diag.List
	number := 0
	for line := range bytes.Lines(content) {
		number++
		raw := string(line)
		text := strings.TrimSpace(raw)
		column := len(raw) - len(strings.TrimLeftFunc(raw, unicode.IsSpace))
		where := lineRange(file, number, at+column, column, len(text))
		at += len(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if why := malformed(text); why != "" {
			findings = append(findings, diag.Diagnostic{
				Severity: diag.Error, Code: "bad-pair", Summary: "Not a pair", Detail: why, Hint: hintPair,
				Range: where, Snippet: snippet(raw),
			})
			continue
		}
		solution, problem, _ := strings.Cut(text, ":")
		found = append(found, filePair{Solution: strings.TrimSpace(solution), Problem: strings.TrimSpace(problem), Text: text, Range: *where})
	}
	if len(found) == 0 && len(findings) == 0 {
		findings = append(findings, diag.Diagnostic{
			Severity: diag.Error, Code: "empty-pairs", Summary: "List without pairs",
			Detail: fmt.Sprintf("%q contains no pairs.", file), Hint: hintPair, Range: lineRange(file, 1, 0, 0, 0),
		})
	}
	return found, findings
}

// malformed explains why a line is not a pair, or returns "".
func malformed(text string) string {
	if !utf8.ValidString(text) {
		return "The line is not UTF-8 text."
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "The line has a control character."
	}
	solution, problem, found := strings.Cut(text, ":")
	switch {
	case !found:
		return fmt.Sprintf("%q has no colon.", text)
	case strings.TrimSpace(solution) == "":
		return fmt.Sprintf("%q has no solution.", text)
	case strings.TrimSpace(problem) == "":
		return fmt.Sprintf("%q has no problem.", text)
	}
	return ""
}

// wideEncoding returns the encoding of a byte order mark other than UTF-8's, or "".
func wideEncoding(content []byte) string {
	if bytes.HasPrefix(content, []byte{0xff, 0xfe}) || bytes.HasPrefix(content, []byte{0xfe, 0xff}) {
		return "UTF-16"
	}
	return ""
}

func lineRange(file string, line, start, column, length int) *diag.Range {
	return &diag.Range{
		File:  file,
		Start: diag.Pos{Line: line, Column: column + 1, Byte: start},
		End:   diag.Pos{Line: line, Column: column + 1 + length, Byte: start + length},
	}
}

// snippet returns a line for display, without bytes that are not UTF-8.
func snippet(raw string) []string {
	return []string{strings.ToValidUTF8(strings.TrimRight(raw, "\r\n"), "\ufffd")}
}
