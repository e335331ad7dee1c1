package answer

import (
	"errors"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// A server without a parser of reasoning leaves the model's reasoning in the answer, between tags:
//
//	<think>
//	A draft ...
//	</think>
//	The answer.
//
// Some chat templates end the prompt with the opening tag, so that an answer has only the closing one.
const reasoningName = `(?:\w+:)?(?:think|thinking|thoughts?|reasoning|scratchpad)`

var (
	reasoningBegin = lazyregexp.New(`(?i)^\s*<` + reasoningName + `>`)
	reasoningClose = lazyregexp.New(`(?i)</` + reasoningName + `>`)
	reasoningTag   = lazyregexp.New(`(?im)</?` + reasoningName + `>([ \t]*$)?`)
)

var errReasoning = errors.New("the answer ends within its reasoning")

// openReasoning reports whether line begins reasoning. Below the start of an answer, the opening tag is alone in its
// line.
func openReasoning(line string, first bool) bool {
	m := reasoningBegin().FindStringIndex(line)
	return m != nil && (first || strings.TrimSpace(line[m[1]:]) == "")
}

// skipReasoning returns the rest of a text after the next closing tag.
func skipReasoning(text string) (rest string, found bool) {
	m := reasoningClose().FindStringIndex(text)
	if m == nil {
		return "", false
	}
	return text[m[1]:], true
}

// withoutPrefilled removes reasoning whose opening tag is in the prompt: everything up to a closing tag that is
// the first tag of the answer. A closing tag within the code has no code after it.
func withoutPrefilled(text string) string {
	m := reasoningTag().FindStringSubmatchIndex(text)
	if m == nil || m[2] < 0 || text[m[0]+1] != '/' {
		return text
	}
	if blocks, _, err := fences(text[m[1]:]); err != nil || len(blocks) == 0 {
		return text
	}
	return text[m[1]:]
}
