//go:build tools

// Package bazelremote pins bazel-remote, the remote cache that tests start.
package bazelremote

import _ "github.com/buchgr/bazel-remote/v2"
