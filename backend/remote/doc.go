// Package remote runs sessions and sandboxes as actions of an engine for remote execution,
// such as Buildbarn. It knows no kind of engine: it speaks the Remote Execution API.
//
// A session lives nowhere between two commands. Each command is an action, whose input root
// is composed by digest: trees of the store, which the server gets once, and the parcel that
// the command before left on the server. Its bytes never come here, but for the files that are
// collected. Nothing outlives an action, so there are no sessions to end after a crash.
//
// The program of an action is fevalgraph itself (package remotehost), which runs the command
// as the local backend of that machine does. It always exits with 0 and leaves a Result, so
// that an engine stores it whatever the command did. Anything else is a fault of the machine.
//
// An action names the run that it belongs to, so that no result of another run, or of another
// user, is ever taken for it. What an engine has of an action is asked for only when an answer
// was lost on its way. What is fresh is decided by fevalgraph's own records.
//
// Each action has the answers that keys were made of. A worker that is something else, and would
// answer otherwise, does nothing.
//
// The kind of backend, for blocks of the configuration, is in kind.go.
package remote

import "github.com/fevalgraph/fevalgraph/backend"

// Kind is the name of this kind of backend.
const Kind = "remote"

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Session = (*session)(nil)
	_ backend.Sandbox = sandbox{}
)
