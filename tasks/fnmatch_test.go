package tasks

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for pattern, names := range map[string]struct{ yes, no []string }{
		"":           {yes: []string{""}, no: []string{"a", "/"}},
		"a.py":       {yes: []string{"a.py"}, no: []string{"a_py", "a.pyc", "b/a.py", "A.py", ""}},
		"*":          {yes: []string{"", "a", "a/b", "\n"}},
		"*.pyc":      {yes: []string{"a.pyc", "a/b.pyc", "./a.pyc", ".pyc"}, no: []string{"a.pyc/", "a.pyco"}},
		"venv/*":     {yes: []string{"venv/", "venv/a", "venv/a/b"}, no: []string{"venv", "./venv/a", "sub/venv/a"}},
		"**/x":       {yes: []string{"a/x", "./x", "a/b/x", "/x"}, no: []string{"x", "a/xx"}},
		"a*b*c":      {yes: []string{"abc", "abbc", "a/b/c", "aXbXbXc"}, no: []string{"ab", "acb", "abcd"}},
		"a**c":       {yes: []string{"ac", "abc"}, no: []string{"ab"}},
		"*ab":        {yes: []string{"ab", "aab", "abab"}, no: []string{"aba"}},
		"a?c":        {yes: []string{"abc", "a/c", "aéc", "a\nc", "a\xffc"}, no: []string{"ac", "abbc"}},
		"[abc]":      {yes: []string{"a", "c"}, no: []string{"d", "", "ab", "[abc]"}},
		"[!abc]":     {yes: []string{"d", "/", "!", "\n"}, no: []string{"a", ""}},
		"[a-c]x":     {yes: []string{"ax", "bx"}, no: []string{"dx", "-x"}},
		"[!a-c]":     {yes: []string{"d", "-"}, no: []string{"b"}},
		"[a-]":       {yes: []string{"a", "-"}, no: []string{"b"}},
		"[-a]":       {yes: []string{"a", "-"}, no: []string{"b"}},
		"[a-b-c]":    {yes: []string{"a", "b", "c", "-"}, no: []string{"d"}},
		"[--/]":      {yes: []string{"-", ".", "/"}, no: []string{"a"}},
		"[]a]":       {yes: []string{"]", "a"}, no: []string{"b"}},
		"[!]a]":      {yes: []string{"b"}, no: []string{"]", "a"}},
		"[]-a]":      {yes: []string{"]", "^", "a"}, no: []string{"-"}},
		"[a-zA-Z0]":  {yes: []string{"q", "Q", "0"}, no: []string{"1"}},
		"[b-a]":      {no: []string{"a", "b", "-", ""}},
		"[!b-a]":     {yes: []string{"a", "b", "-"}, no: []string{""}},
		"[b-az]":     {yes: []string{"z"}, no: []string{"a"}},
		"[^a]":       {yes: []string{"^", "a"}, no: []string{"b"}},
		"[a!]":       {yes: []string{"a", "!"}, no: []string{"b"}},
		"[[]":        {yes: []string{"["}, no: []string{"[["}},
		`[\]`:        {yes: []string{`\`}, no: []string{"]"}},
		"[é-ë]":      {yes: []string{"ê"}, no: []string{"e", "\xc3"}},
		"[":          {yes: []string{"["}},
		"[!":         {yes: []string{"[!"}, no: []string{"a"}},
		"[]":         {yes: []string{"[]"}, no: []string{"a"}},
		"[!]":        {yes: []string{"[!]"}, no: []string{"a"}},
		"[ab":        {yes: []string{"[ab"}, no: []string{"a"}},
		"[*":         {yes: []string{"[", "[a/b"}, no: []string{"a"}},
		`\*`:         {yes: []string{`\`, `\a`}, no: []string{"*"}},
		"{a,b}":      {yes: []string{"{a,b}"}, no: []string{"a"}},
		"a.b+(c)$^|": {yes: []string{"a.b+(c)$^|"}, no: []string{"axb+(c)$^|"}},
	} {
		p := compileFnmatch(pattern)
		for _, name := range names.yes {
			if !p.Match(name) {
				t.Errorf("%q does not match %q", pattern, name)
			}
		}
		for _, name := range names.no {
			if p.Match(name) {
				t.Errorf("%q matches %q", pattern, name)
			}
		}
	}
}

// Patterns come from untrusted configurations: each must end soon.
func TestMatchTime(t *testing.T) {
	p := compileFnmatch(strings.Repeat("*a", 100) + "b")
	if p.Match(strings.Repeat("a", 20_000)) {
		t.Error("matches without a b")
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("[!a-]*?[", "a/b")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		compileFnmatch(pattern).Match(name)
		if !compileFnmatch("*"+pattern+"*").Match(name) && compileFnmatch(pattern).Match(name) {
			t.Errorf("%q matches %q, and with stars around it does not", pattern, name)
		}
	})
}

var patterns = []string{"*.pyc", "venv/*", ".venv/*", ".evaluation_tests/*", "tests/assets", "tests/assets/*", "files", "files/*"}

func BenchmarkMatch(b *testing.B) {
	var compiled []fnmatchPattern
	for _, p := range patterns {
		compiled = append(compiled, compileFnmatch(p))
	}
	for b.Loop() {
		for _, p := range compiled {
			p.Match("src/package/module/submodule/implementation.py")
		}
	}
}
