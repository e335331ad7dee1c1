package graph

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Selector picks nodes. It is a disjunction of conjunctions, as on the
// command line: arguments are or-ed, comma-separated terms within one and-ed.
//
//	term = "not " term | "(" terms ")" | "deps(" terms ")" | "rdeps(" terms ")"
//	     | "path(" term "," term ")" | "file:" PATH | AXIS "=" GLOB | GLOB
//
// In a glob, * and ** match any characters and ? matches one. A glob without an axis is
// compared with addresses. Without * it also matches addresses below it: "kvstore" and
// "pytest:kvstore" match "pytest:kvstore/basic/agent". The part after the last @ of an
// address is optional.
//
// deps and rdeps select the nodes of their argument with all dependencies or dependents.
// path selects the nodes on paths between its arguments, in either direction. file selects
// the nodes that read a file.
type Selector struct {
	any    []conjunction
	leaves []string
	graph  bool // some term takes a Scope
}

type conjunction []term

type term struct {
	not      bool
	function string // applied to args; file applies to pattern; "" is a glob
	args     []conjunction
	axis     string // "" for addresses
	pattern  string
}

// The functions of terms.
const (
	functionGroup = "group" // parentheses without a function
	functionDeps  = "deps"
	functionRdeps = "rdeps"
	functionPath  = "path"
	functionFile  = "file"
)

// Syntax configures the selectors of a caller.
type Syntax struct {
	Axes []string // names that are valid before "="
	// Graph permits terms that need a Scope.
	Graph bool
	// Expand returns the expansion of a term without a function; nil keeps all terms.
	Expand func(term string) string
}

// ParseSelector reads selector arguments that can be matched without a graph; axes lists the
// names that are valid before "=".
func ParseSelector(args []string, axes []string) (*Selector, error) {
	return Syntax{Axes: axes}.Parse(args)
}

// Parse reads selector arguments.
func (x Syntax) Parse(args []string) (*Selector, error) {
	s := &Selector{}
	for _, arg := range args {
		p := selectorParser{Syntax: x, into: s, arg: arg, rest: arg}
		all, err := p.conjunction()
		if err != nil {
			return nil, err
		}
		s.any = append(s.any, all)
	}
	return s, nil
}

// Empty reports whether the selector is empty.
func (s *Selector) Empty() bool { return s == nil || len(s.any) == 0 }

// Match reports whether the selector selects a node with this address and these axis values, which
// belongs to groups with these names. values can return several, such as a problem's tags. The selector
// must not contain terms that need a Scope.
func (s *Selector) Match(addr string, values func(axis string) []string, groups ...string) bool {
	return slices.ContainsFunc(s.any, func(all conjunction) bool {
		return all.match(func(t *term) bool { return t.match(addr, values, groups) })
	})
}

func (all conjunction) match(holds func(t *term) bool) bool {
	for i := range all {
		if holds(&all[i]) == all[i].not {
			return false
		}
	}
	return true
}

// match evaluates a term, ignoring t.not.
func (t *term) match(addr string, values func(axis string) []string, groups []string) bool {
	switch {
	case t.function == functionGroup:
		return t.args[0].match(func(t *term) bool { return t.match(addr, values, groups) })
	case t.axis == "":
		return matchAddr(t.pattern, normalise(addr)) || slices.ContainsFunc(groups, func(name string) bool { return matchName(t.pattern, normalise(name)) })
	}
	return slices.ContainsFunc(values(t.axis), func(v string) bool {
		v = normalise(v)
		base, _, _ := strings.Cut(v, "[")
		return globMatch(t.pattern, v) || t.pattern == base
	})
}

// matchAddr compares a glob with an address, and with its part after the kind.
func matchAddr(pattern, addr string) bool {
	_, body, hasKind := strings.Cut(addr, ":")
	return matchName(pattern, addr) || hasKind && matchName(pattern, body)
}

func matchName(pattern, name string) bool {
	if globMatch(pattern, name) || strings.HasPrefix(name, pattern+"/") {
		return true
	}
	at := strings.LastIndexByte(name, '@')
	return at >= 0 && !strings.Contains(pattern, "@") && globMatch(pattern, name[:at])
}

// normalise removes the quotes of instance keys, which shells tend to remove.
func normalise(s string) string { return strings.ReplaceAll(s, `"`, "") }

// globMatch matches a glob. * crosses separators; brackets and braces have no
// special meaning, since addresses contain them.
func globMatch(pattern, s string) bool {
	if pattern == s {
		return true
	}
	pattern = globEscaper.Replace(pattern)
	ok, err := doublestar.Match(pattern, strings.ReplaceAll(s, "/", "\x00"))
	return err == nil && ok
}

var globEscaper = strings.NewReplacer("/", "\x00", "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "**", "*", `\`, `\\`)
