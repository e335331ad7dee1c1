//go:build tools

// Package buildbarn pins the four programs of a Buildbarn cluster, which tests start.
package buildbarn

import (
	_ "github.com/buildbarn/bb-remote-execution/cmd/bb_runner"
	_ "github.com/buildbarn/bb-remote-execution/cmd/bb_scheduler"
	_ "github.com/buildbarn/bb-remote-execution/cmd/bb_worker"
	_ "github.com/buildbarn/bb-storage/cmd/bb_storage"
)
