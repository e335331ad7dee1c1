// Package examples holds the example projects. Some are embedded, so that
// `fevalgraph init` can write them anywhere.
package examples

import "embed"

// Starters are the projects that init knows, each in its directory.
//
//go:embed quickstart/fevalgraph.hcl quickstart/problems quickstart/solutions
//go:embed judge/fevalgraph.hcl judge/problems judge/solutions
//go:embed research/fevalgraph.hcl research/problems research/solutions
//go:embed scbench/fevalgraph.hcl
var Starters embed.FS
