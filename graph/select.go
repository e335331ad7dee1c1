package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Selector picks nodes. It is a disjunction of conjunctions, as on the
// command line: arguments are or-ed, comma-separated terms within one and-ed.
// A term is axis=glob, or a glob over addresses; in a glob, * and ** stand for
// any characters and ? for one. A term without * also matches everything
// below it: "kvstore" and "pytest:kvstore" match "pytest:kvstore/basic/agent". What
// follows the last @ of an address may be left out.
type Selector struct {
	any []conjunction
}

type conjunction []term

type term struct {
	axis    string // "" for addresses
	pattern string
	text    string
}

// ParseSelector reads selector arguments; axes lists the names that may stand
// before "=".
func ParseSelector(args []string, axes []string) (*Selector, error) {
	s := &Selector{}
	for _, arg := range args {
		var all conjunction
		for _, text := range splitTerms(arg) {
			text = strings.TrimSpace(text)
			if text == "" {
				return nil, fmt.Errorf("selector %q has an empty term", arg)
			}
			t := term{text: text, pattern: text}
			if axis, value, found := strings.Cut(text, "="); found && !strings.ContainsAny(axis, "[:/*") {
				if !slices.Contains(axes, axis) {
					return nil, fmt.Errorf("selector %q: no axis %q; there are %s", arg, axis, strings.Join(axes, ", "))
				}
				t.axis, t.pattern = axis, value
			}
			t.pattern = normalise(t.pattern)
			all = append(all, t)
		}
		s.any = append(s.any, all)
	}
	return s, nil
}

// splitTerms cuts at commas outside quotes: instance keys may hold commas.
func splitTerms(arg string) []string {
	var terms []string
	quoted, start := false, 0
	for i := range len(arg) {
		switch {
		case arg[i] == '"':
			quoted = !quoted
		case arg[i] == ',' && !quoted:
			terms = append(terms, arg[start:i])
			start = i + 1
		}
	}
	return append(terms, arg[start:])
}

// Empty reports whether nothing was asked for.
func (s *Selector) Empty() bool { return s == nil || len(s.any) == 0 }

// Match reports whether the selector picks a node with this address and these
// axis values. values may return several, such as a problem's tags.
func (s *Selector) Match(addr string, values func(axis string) []string) bool {
	return slices.ContainsFunc(s.any, func(all conjunction) bool {
		for _, t := range all {
			if !t.match(addr, values) {
				return false
			}
		}
		return true
	})
}

func (t term) match(addr string, values func(axis string) []string) bool {
	if t.axis == "" {
		return matchAddr(t.pattern, normalise(addr))
	}
	return slices.ContainsFunc(values(t.axis), func(v string) bool {
		v = normalise(v)
		base, _, _ := strings.Cut(v, "[")
		return globMatch(t.pattern, v) || t.pattern == base
	})
}

func matchAddr(pattern, addr string) bool {
	_, body, _ := strings.Cut(addr, ":")
	if globMatch(pattern, addr) || globMatch(pattern, body) {
		return true
	}
	if at := strings.LastIndexByte(body, '@'); at >= 0 && !strings.Contains(pattern, "@") {
		cut := len(body) - at
		if globMatch(pattern, addr[:len(addr)-cut]) || globMatch(pattern, body[:at]) {
			return true
		}
	}
	return strings.HasPrefix(addr, pattern+"/") || strings.HasPrefix(body, pattern+"/")
}

// normalise drops the quotes of instance keys, which shells tend to eat.
func normalise(s string) string { return strings.ReplaceAll(s, `"`, "") }

// globMatch lets * cross every separator and gives brackets and braces no
// meaning: addresses hold them.
func globMatch(pattern, s string) bool {
	if pattern == s {
		return true
	}
	pattern = globEscaper.Replace(pattern)
	ok, err := doublestar.Match(pattern, strings.ReplaceAll(s, "/", "\x00"))
	return err == nil && ok
}

var globEscaper = strings.NewReplacer("/", "\x00", "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "**", "*", `\`, `\\`)
