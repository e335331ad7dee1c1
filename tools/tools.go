//go:build tools

// Package tools pins the programs that the tests and checks need, apart from
// the requirements of fevalgraph itself.
package tools

import (
	_ "honnef.co/go/tools/cmd/staticcheck"
)
