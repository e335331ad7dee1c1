package tasks

import (
	"slices"
	"unicode/utf8"
)

// fnmatchPattern is a case-sensitive pattern with the syntax of Python's fnmatch. Unlike in path.Match,
// "/" has no special meaning:
//
//   - any characters, also none
//     ?       one character
//     [seq]   one character of seq; a-z is a range, and "]" can be first
//     [!seq]  one character that is not in seq
//
// Other characters match themselves, and so does an unclosed "[": no pattern is malformed, and characters
// cannot be escaped.
type fnmatchPattern []element

// element matches a character or, if it is a star, any number of characters.
type element struct {
	star    bool
	negated bool
	spans   []span // that match, or do not if negated
}

// span is the characters from first to last, both included.
type span struct{ first, last rune }

// compileFnmatch compiles a pattern. Unlike in Python, a "!" after an empty range, as in "[b-a!x]", is not
// a negation.
func compileFnmatch(text string) fnmatchPattern {
	var p fnmatchPattern
	for left := []rune(text); len(left) > 0; {
		next := left[0]
		left = left[1:]
		switch next {
		case '*':
			if len(p) == 0 || !p[len(p)-1].star {
				p = append(p, element{star: true})
			}
		case '?':
			p = append(p, element{negated: true}) // the complement of an empty set matches any character
		case '[':
			e, size := compileSet(left)
			p = append(p, e)
			left = left[size:]
		default:
			p = append(p, literal(next))
		}
	}
	return p
}

func literal(c rune) element { return element{spans: []span{{c, c}}} }

// compileSet parses the text after a "[", and returns the length of the set. An unterminated set is not a
// set.
func compileSet(text []rune) (e element, size int) {
	start := 0
	if len(text) > 0 && text[0] == '!' {
		e.negated = true
		start = 1
	}
	if start >= len(text) {
		return literal('['), 0
	}
	length := slices.Index(text[start+1:], ']') // the first character belongs to the set
	if length < 0 {
		return literal('['), 0
	}
	end := start + 1 + length
	for seq := text[start:end]; len(seq) > 0; {
		if len(seq) < 3 || seq[1] != '-' {
			e.spans = append(e.spans, span{seq[0], seq[0]})
			seq = seq[1:]
			continue
		}
		if seq[0] <= seq[2] { // otherwise the range is empty
			e.spans = append(e.spans, span{seq[0], seq[2]})
		}
		seq = seq[3:]
	}
	return e, end + 1
}

// Match reports whether the pattern matches the whole name. Its time is at most
// the product of both lengths. A byte that is not UTF-8 is one character.
func (p fnmatchPattern) Match(name string) bool {
	at, next := 0, 0         // in p, in name
	afterStar, retry := 0, 0 // where to continue after the last star if it matches another character
	for next < len(name) {
		if at < len(p) && p[at].star {
			at++
			afterStar, retry = at, next
			continue
		}
		c, size := utf8.DecodeRuneInString(name[next:])
		switch {
		case at < len(p) && p[at].takes(c):
			at++
			next += size
		case afterStar > 0:
			_, size = utf8.DecodeRuneInString(name[retry:])
			retry += size
			at, next = afterStar, retry
		default:
			return false
		}
	}
	if at < len(p) && p[at].star {
		at++
	}
	return at == len(p)
}

func (e element) takes(c rune) bool {
	for _, s := range e.spans {
		if s.first <= c && c <= s.last {
			return !e.negated
		}
	}
	return e.negated
}
