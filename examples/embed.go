// Package examples holds the example projects. The quickstart is embedded, so
// that `fevalgraph init` can write it anywhere.
package examples

import "embed"

// Quickstart is the project in quickstart/.
//
//go:embed quickstart/fevalgraph.hcl quickstart/problems quickstart/solutions
var Quickstart embed.FS
