// Package worker runs sessions and sandboxes of a backend on another machine.
//
// A Server, which the command `fevalgraph worker` is, has a backend, perhaps a sandbox,
// and a content store of its machine. A Client speaks to it over one TLS connection and
// gives out a backend.Backend and a backend.Sandbox whose methods are requests. Inputs go
// by digest: the server is asked what its store lacks, and only that is sent.
//
// Each thing that a caller does in a session is a numbered call. The server remembers
// what it was asked and what it answered. A call that is sent again, because a connection
// was lost, is not repeated: the answer is, from where the client has it. A client that
// was started again opens the session that its predecessor left if it asks for the same
// inputs, and gets the answers to all calls that are the same as before, also to the one
// that is still running. Work is thus neither lost nor repeated when either end of the
// connection fails.
//
// Over a byte stream, such as the standard input and output of a container's first process, there
// is one session, and no call is ever sent again: see ServeStream and OpenStream.
//
// A failure of the machine itself is a *backend.PreemptedError.
package worker

// Protocol is the version of what Server and Client say to each other. Both are the
// same program as a rule, since a client brings its own to the machine.
const Protocol = 1

// Environments is where clients have commands find the Python environments that sessions
// share. A server puts a directory of its machine in its place, in arguments and
// variables of commands.
const Environments = "/fevalgraph/environments"
