// Package worker runs sessions and sandboxes of a backend on another machine.
//
// A Server (`fevalgraph worker`) has a backend, perhaps a sandbox, and a content store of its machine. A
// Client talks to it over one TLS connection and provides a backend.Backend and a backend.Sandbox whose
// methods are requests. The machine's owner reads certificate and secret from a file. Inputs go by digest:
// the client asks what the server's store lacks, and sends only that.
//
// Each call in a session is numbered. The server records requests and answers. A call that is sent again,
// because a connection was lost, is not repeated: the recorded answer is, from where the client has it. A
// client that was started again opens the session that its predecessor left if it has the same inputs, and
// gets the answers to all calls that are the same as before, also to the call that is still running. So work
// is neither lost nor repeated when either end of the connection fails.
//
// Over a byte stream, such as the standard input and output of a container's first process, there is one
// session, and no call is ever sent again: see ServeStream and OpenStream.
//
// A failure of the machine itself is a *backend.PreemptedError. A stream that breaks is a *BrokenError.
package worker

// Protocol is the version of what Server and Client say to each other. Both are the
// same program as a rule, since a client brings its own to the machine.
const Protocol = 1

// Environments is the directory of the Python environments that sessions share, to clients. A server
// replaces it by a directory of its machine, in arguments and variables of commands.
const Environments = "/fevalgraph/environments"
