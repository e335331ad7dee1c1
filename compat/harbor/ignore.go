package harbor

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const harborignored = ".harborignore"

// ignoreRule is a line of a file in the syntax of .gitignore.
type ignoreRule struct {
	pattern  string // for doublestar, relative to the file's directory
	dirs     bool   // it is about directories alone
	included bool   // it begins with "!"
}

// ignoreRules reads such a file.
func ignoreRules(text string) (all []ignoreRule) {
	for line := range strings.Lines(text) {
		var r ignoreRule
		line = strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = strings.TrimSuffix(line, " ")
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, r.included = strings.CutPrefix(line, "!")
		line, r.dirs = strings.CutSuffix(line, "/")
		if strings.Contains(line, "/") {
			line = strings.TrimPrefix(line, "/")
		} else {
			line = "**/" + line
		}
		if strings.HasSuffix(line, "/**") { // what is in it, and not itself
			line += "/*"
		}
		r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
		if doublestar.ValidatePattern(r.pattern) {
			all = append(all, r)
		}
	}
	return all
}

func (r ignoreRule) matches(name string, dir bool) bool {
	ok, err := doublestar.Match(r.pattern, name)
	return err == nil && ok && (dir || !r.dirs)
}

// ignores tells which files of a task's directory Harbor leaves out.
type ignores struct {
	read  func(rel string) string // a file's text; "" without one
	rules map[string][]ignoreRule // by directory
}

func newIgnores(read func(rel string) string) *ignores {
	return &ignores{read, map[string][]ignoreRule{}}
}

// excluded reports whether rules of .harborignore files leave out a path of the task, or a
// directory that it is in. They hold in tests and solutions, and below their directory.
func (g *ignores) excluded(name string, dir bool) bool {
	if path.Base(name) == harborignored {
		return true
	}
	parts := strings.Split(name, "/")
	from := 1 // the directory of tests or of a solution has these many parts
	if parts[0] == "steps" {
		from = 3
	}
	if len(parts) < from || !slices.Contains([]string{"tests", "solution"}, parts[from-1]) {
		return false
	}
	for n := from + 1; n <= len(parts); n++ {
		left := false
		for at := from; at < n; at++ {
			if said := ruled(g.rulesIn(strings.Join(parts[:at], "/")), strings.Join(parts[at:n], "/"), dir || n < len(parts)); said != nil {
				left = *said
			}
		}
		if left {
			return true
		}
	}
	return false
}

func (g *ignores) rulesIn(dir string) []ignoreRule {
	rules, known := g.rules[dir]
	if !known {
		rules = ignoreRules(g.read(path.Join(dir, harborignored)))
		g.rules[dir] = rules
	}
	return rules
}

// ruled reports whether the rules of a file leave out a path; nil means that no rule matches. The last rule
// that matches the file itself decides and, without one, the last that matches a directory, as in Harbor's
// library; git looks at directories alone.
func ruled(rules []ignoreRule, name string, dir bool) (left *bool) {
	for _, r := range slices.Backward(rules) {
		out := !r.included
		switch {
		case !dir && r.matches(name, false):
			return &out
		case left == nil && r.above(name, dir):
			left = &out
		}
	}
	return left
}

// above reports whether a rule matches a directory, or a directory that contains the path.
func (r ignoreRule) above(name string, dir bool) bool {
	for at := name; at != "."; at, dir = path.Dir(at), true {
		if dir && r.matches(at, true) {
			return true
		}
	}
	return false
}

// leftOut reports whether the last of the rules that are about a file, or a directory that it
// is in, leaves it out.
func leftOut(rules []ignoreRule, name string) (left bool) {
	for _, r := range rules {
		for at, dir := name, false; at != "."; at, dir = path.Dir(at), true {
			if r.matches(at, dir) {
				left = !r.included
				break
			}
		}
	}
	return left
}
