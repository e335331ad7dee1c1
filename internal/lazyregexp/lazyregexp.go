// Package lazyregexp compiles regular expressions when they are first used. The program
// starts for each command that it isolates and for each action of an engine, and those
// need none of them: compiling all took a fifth of such a start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles the expression once and returns it. It panics when
// the expression is wrong. It is for variables of packages.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
