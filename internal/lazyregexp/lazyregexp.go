// Package lazyregexp compiles regular expressions on first use. The program starts for each command that it
// isolates and for each action of an engine, which use none: compiling all took a fifth of such a start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles the expression once and returns it. The function panics if the
// expression is invalid. It is for package variables.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
