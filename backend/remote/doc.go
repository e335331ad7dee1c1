// Package remote runs sessions and sandboxes as actions of an engine for remote execution, such as
// Buildbarn. It knows no kind of engine: it uses the Remote Execution API (package reapi). The kind of
// backend, for blocks of the configuration, is in kind.go.
//
// A session is on no machine between two commands. Each command is an action, whose input root is composed
// by digest: the program, a task, trees of the store, which the server gets once, and the parcel that the
// previous command left on the server (package parcel). Its bytes come here only if a file is collected.
// What Prepare made is a parcel, too. Nothing outlives an action, so there are no sessions to end after a
// crash.
//
// The program of an action is fevalgraph-worker (package remotehost), which runs the command as the local
// backend of that machine does. It always exits with 0 and leaves a Result, so that an engine stores it
// whatever the command did. Any other end is a fault of the machine.
//
// An action names its run, so the result of another run, or of another user, is never taken for it. The
// engine's own cache is queried only when an answer was lost on its way. fevalgraph's records decide what is
// fresh.
//
// Each action has the identity that keys were made of. A worker that differs from it does nothing.
//
// # Errors
//
// A lost action is executed again, a lost blob sent again, and a busy engine waited for, within the patience
// of Options. What only the server had, such as a parcel, and lost is a *backend.PreemptedError.
package remote

import "github.com/fevalgraph/fevalgraph/backend"

// Kind is the name of this kind of backend.
const Kind = "remote"

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Session = (*session)(nil)
	_ backend.Sandbox = sandbox{}
)
