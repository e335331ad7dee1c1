package answer

import (
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

// fences finds the fenced blocks of a text in Markdown outside of reasoning, and the one without an end, or nil. A
// parser for all of Markdown finds others, since models indent blocks in lists as they like, and it ends the last
// one with the text.
func fences(text string) (blocks []block, open *block, err error) {
	var fence, indent, above string
	var code strings.Builder
	first := true // nothing but blank lines so far
	for text != "" {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line = text[:i+1]
		}
		if open == nil && openReasoning(line, first) {
			rest, found := skipReasoning(text)
			if !found {
				return nil, nil, errReasoning
			}
			text, above = rest, ""
			continue
		}
		text = text[len(line):]
		bare := strings.TrimSuffix(line, "\n")
		trimmed := strings.TrimLeft(bare, " \t")
		first = first && trimmed == ""
		mark := fenceOf(trimmed)
		info := strings.TrimSpace(trimmed[len(mark):])
		// Two fences in a row begin one block if only the second has a language.
		again := open != nil && open.untagged() && info != "" && strings.TrimSpace(code.String()) == ""
		switch {
		case (open == nil || again) && mark != "":
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
		case open != nil && mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && info == "":
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
		open.text = code.String()
	}
	return blocks, open, nil
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

// parseInfo reads the text behind a fence. Its first word is the language, as in CommonMark, or a file; the
// rest can be attributes of a dialect: {.python .numberLines}, python{1,3}, python linenums="1".
func parseInfo(info string) (language, name string) {
	words := strings.Fields(info)
	if len(words) == 0 {
		return "", ""
	}
	language, _, _ = strings.Cut(strings.ToLower(words[0]), "{")
	if language == "" {
		language = strings.ToLower(strings.Trim(words[0], "{.,}"))
		words = []string{language}
	}
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
	if looksLikeFile(words[0]) && !dottedLanguage[language] {
		return "", words[0]
	}
	return language, ""
}

// dottedLanguage lists languages whose names look like files.
var dottedLanguage = map[string]bool{"asp.net": true, "vb.net": true, "node.js": true}

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
	return word != "" && !strings.HasSuffix(word, ".") && !strings.ContainsAny(word, "{}=,;\"'<>") && fileName().MatchString(word)
}

var diffStart = lazyregexp.New(`(?m)^--- \S.*\n\+\+\+ \S`)

// isDiff reports whether a text is a unified diff, with or without words before it.
func isDiff(text string) bool { return diffStart().MatchString(text) }
