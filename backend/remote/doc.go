// Package remote runs sessions and sandboxes as actions of an engine for remote execution, such as
// Buildbarn. It works with any engine that implements the Remote Execution API (package reapi). The kind
// of backend, for blocks of the configuration, is in kind.go.
//
// Between two commands, a session occupies no machine. Each command is an action, whose input root is
// composed by digest: the program, a task, trees of the store, which are sent to the server once, and the
// parcel that the previous command left on the server (package parcel). Bytes of parcels are fetched only
// to collect a file. The result of Prepare is a parcel, too. Nothing outlives an action, so there are no
// sessions to end after a crash.
//
// The program of an action is fevalgraph-worker (package remotehost), which runs the command as the local
// backend of that machine does. It always exits with 0 and writes a Result, so that an engine stores it
// regardless of the command's exit. Any other end is a failure of the machine.
//
// An action names its run, so the result of another run or user is never served for it. The engine's own
// cache is queried only if an answer was lost in transit. fevalgraph's records decide which nodes are
// fresh.
//
// Each action contains the identity that entered keys. A worker with another identity does nothing.
//
// # Errors
//
// Within the patience of Options, lost actions are executed again, lost blobs are sent again, and the
// client waits for a busy engine. The loss of content that only the server had, such as a parcel, is a
// *backend.PreemptedError.
package remote

import "github.com/fevalgraph/fevalgraph/backend"

// Kind is the name of this kind of backend.
const Kind = "remote"

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Session = (*session)(nil)
	_ backend.Sandbox = sandbox{}
)
