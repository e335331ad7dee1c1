// Package workspace names files and variables that tests written for SlopCodeBench find in their workspace
// and environment. All problems that pytest judges have them.
package workspace

import "strings"

// Reports is the directory of pytest's reports, relative to the workspace.
const Reports = ".scbench"

// Assets returns the variable with the directory of all assets.
func Assets(dir string) string { return "SCBENCH_ASSETS_DIR=" + dir }

// Asset returns the variable with the path of an asset.
func Asset(name, path string) string { return "SCBENCH_ASSET_" + variable(name) + "=" + path }

// Checkpoint returns the variable with the name of the checkpoint.
func Checkpoint(name string) string { return "SCBENCH_CHECKPOINT=" + name }

// variable upper-cases a name and replaces what shells do not carry in the
// names of variables.
func variable(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			return c
		}
		return '_'
	}, name)
}
