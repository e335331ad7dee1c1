//go:build tools

// Package esbuild pins the bundler of report/page/web.
package esbuild

import _ "github.com/evanw/esbuild/cmd/esbuild"
