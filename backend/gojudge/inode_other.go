//go:build !unix

package gojudge

import "io/fs"

// inode cannot tell files apart here: size and time have to.
func inode(fs.FileInfo) string { return "" }
