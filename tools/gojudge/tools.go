//go:build tools

// Package gojudge pins go-judge, whose many requirements are kept separate from those of the other tools.
package gojudge

import _ "github.com/criyle/go-judge/cmd/go-judge"
