package answer

import (
	"errors"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// block is a fenced block of code.
type block struct {
	language string
	name     string // path of its file; "" if unnamed
	text     string
}

func (b *block) isDiff() bool {
	return b.language == "diff" || b.language == "patch" || b.name == "" && isDiff(b.text)
}

// fences finds the fenced blocks of a text in Markdown. A parser for all of Markdown would
// find others: models indent blocks in lists as they like.
func fences(text string) ([]block, error) {
	var blocks []block
	var open *block
	var fence, indent, above string
	var code strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		trimmed := strings.TrimLeft(bare, " \t")
		mark := fenceOf(trimmed)
		switch {
		case open == nil && mark != "":
			info := strings.TrimSpace(trimmed[len(mark):])
			if mark[0] == '`' && strings.Contains(info, "`") {
				above = bare // code within a line
				continue
			}
			language, name := parseInfo(info)
			if name == "" {
				name = nameAbove(above)
			}
			open = &block{language: language, name: name}
			fence, indent = mark, bare[:len(bare)-len(trimmed)]
			code.Reset()
		case open != nil && mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.TrimSpace(trimmed[len(mark):]) == "":
			open.text = code.String()
			blocks = append(blocks, *open)
			open, above = nil, ""
		case open != nil:
			code.WriteString(strings.TrimPrefix(line, indent))
		case strings.TrimSpace(bare) != "":
			above = bare
		}
	}
	if open != nil {
		return nil, errors.New("the last block of code in the answer has no end")
	}
	return blocks, nil
}

// fenceOf returns the fence at the start of a line, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

var namedInfo = lazyregexp.New(`(?:^|[\s{])(?:file|filename|file_name|path|title|name)\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s"'}]+))`)

// parseInfo reads the text behind a fence.
func parseInfo(info string) (language, name string) {
	words := strings.Fields(info)
	if len(words) == 0 {
		return "", ""
	}
	language = strings.ToLower(words[0])
	if m := namedInfo().FindStringSubmatch(info); m != nil {
		if strings.HasPrefix(info, m[0]) {
			language = ""
		}
		return language, firstOf(m[1:])
	}
	if before, after, ok := strings.Cut(words[0], ":"); ok && after != "" && !strings.Contains(before, "/") {
		return strings.ToLower(before), after
	}
	if len(words) > 1 && looksLikeFile(strings.Trim(words[1], "`\"'()")) {
		return language, strings.Trim(words[1], "`\"'()")
	}
	if looksLikeFile(words[0]) {
		return "", words[0]
	}
	return language, ""
}

func firstOf(texts []string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

var aboveName = lazyregexp.New(`^(?:[-*+]\s+|\d+[.)]\s+)?(?:#{1,6}\s+)?(?:(?i:file(?:name)?|path)\s*:\s*)?(\S+)$`)

// nameAbove returns the name of a file if the line contains nothing else.
func nameAbove(line string) string {
	line = strings.NewReplacer("**", "", "`", "").Replace(strings.TrimSpace(line))
	line = strings.TrimSuffix(strings.TrimSpace(line), ":")
	if m := aboveName().FindStringSubmatch(line); m != nil && looksLikeFile(m[1]) {
		return m[1]
	}
	return ""
}

var fileName = lazyregexp.New(`^(?:.*/)?(?:[^/]*\.[A-Za-z][A-Za-z0-9_+-]{0,15}|Makefile|Dockerfile|Gemfile|Cargo\.lock|go\.mod)$`)

// looksLikeFile distinguishes the name of a file from a language and from a word. Whether it can be written
// is decided later.
func looksLikeFile(word string) bool {
	return word != "" && !strings.HasSuffix(word, ".") && fileName().MatchString(word)
}

var diffStart = lazyregexp.New(`(?m)^--- \S.*\n\+\+\+ \S`)

// isDiff reports whether a text is a unified diff, with or without words before it.
func isDiff(text string) bool { return diffStart().MatchString(text) }
