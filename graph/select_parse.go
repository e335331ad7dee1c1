package graph

import (
	"fmt"
	"slices"
	"strings"
)

// deepestSelector limits how deep the terms of a selector are nested.
const deepestSelector = 100

const blanks = " \t\r\n"

// selectorParser reads one argument.
type selectorParser struct {
	Syntax
	into  *Selector
	arg   string
	rest  string // of arg
	depth int    // number of open parentheses
}

func (p *selectorParser) errorf(format string, args ...any) error {
	return fmt.Errorf("selector %q: "+format, append([]any{p.arg}, args...)...)
}

// conjunction parses terms up to the end, or to the closing parenthesis.
func (p *selectorParser) conjunction() (all conjunction, err error) {
	for {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		if !p.skip(",") {
			break
		}
	}
	if rest := strings.TrimSpace(p.rest); p.depth == 0 && rest != "" {
		return nil, p.errorf("%q follows a complete term", rest)
	}
	return all, nil
}

// skip skips a token with preceding blanks.
func (p *selectorParser) skip(token string) bool {
	rest, found := strings.CutPrefix(strings.TrimLeft(p.rest, blanks), token)
	if found {
		p.rest = rest
	}
	return found
}

func (p *selectorParser) term() (t term, err error) {
	for p.skip("not ") || strings.HasPrefix(strings.TrimLeft(p.rest, blanks), "not(") && p.skip("not") {
		t.not = !t.not
	}
	if p.skip("(") {
		t.function = functionGroup
		t.args, err = p.arguments(functionGroup)
		return t, err
	}
	for _, name := range []string{functionDeps, functionRdeps, functionPath} {
		if p.skip(name + "(") {
			t.function = name
			if err := p.needsGraph(name + "(...)"); err != nil {
				return t, err
			}
			t.args, err = p.arguments(name)
			return t, err
		}
	}
	text := p.text()
	if text == "" {
		return t, fmt.Errorf("selector %q has an empty term", p.arg)
	}
	if path, found := strings.CutPrefix(text, functionFile+":"); found {
		if t.function, t.pattern = functionFile, normalise(path); t.pattern == "" {
			return t, p.errorf("file: requires a path")
		}
		return t, p.needsGraph("file:")
	}
	if p.Expand != nil {
		text = p.Expand(text)
	}
	t.pattern = text
	if axis, value, found := strings.Cut(text, "="); found && !strings.ContainsAny(axis, "[:/*") {
		if !slices.Contains(p.Axes, axis) {
			return t, p.errorf("no axis %q; known are %s", axis, strings.Join(p.Axes, ", "))
		}
		t.axis, t.pattern = axis, value
	}
	t.pattern = normalise(t.pattern)
	p.into.leaves = append(p.into.leaves, text)
	return t, nil
}

func (p *selectorParser) needsGraph(what string) error {
	if !p.Graph {
		return p.errorf("%s selects nodes of a project, but only names and axes can be selected here", what)
	}
	p.into.graph = true
	return nil
}

// arguments parses the arguments of a function after its opening parenthesis.
func (p *selectorParser) arguments(function string) (args []conjunction, err error) {
	if p.depth++; p.depth > deepestSelector {
		return nil, p.errorf("parentheses are nested more than %d deep", deepestSelector)
	}
	defer func() { p.depth-- }()
	if function == functionPath {
		for range 2 {
			t, err := p.term()
			if err != nil {
				return nil, err
			}
			if args = append(args, conjunction{t}); len(args) == 1 && !p.skip(",") {
				return nil, p.errorf("path requires two terms: path(A, B)")
			}
		}
	} else {
		all, err := p.conjunction()
		if err != nil {
			return nil, err
		}
		args = []conjunction{all}
	}
	if !p.skip(")") {
		return nil, p.errorf("missing %q", ")")
	}
	return args, nil
}

// text reads up to a comma or an unmatched closing parenthesis. Quoted instance keys can contain
// both, and addresses can contain parentheses.
func (p *selectorParser) text() string {
	quoted, opened, at := false, 0, 0
scan:
	for ; at < len(p.rest); at++ {
		switch c := p.rest[at]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',':
			break scan
		case c == '(':
			opened++
		case c == ')' && opened == 0 && p.depth > 0:
			break scan
		case c == ')':
			opened = max(0, opened-1)
		}
	}
	text := strings.TrimSpace(p.rest[:at])
	p.rest = p.rest[at:]
	return text
}
