// Package worker runs sessions and sandboxes of a backend on another machine.
//
// A Server (`fevalgraph worker`) has a backend, optionally a sandbox, and a content store of its machine.
// A Client talks to it over one TLS connection and provides a backend.Backend and a backend.Sandbox whose
// methods are requests. The machine's owner reads certificate and secret from a file. Inputs are sent by
// digest: the client asks which blobs the server's store lacks, and sends only those.
//
// Each call in a session is numbered. The server records requests and answers. If a call is sent again,
// because a connection was lost, it is not executed again: the server sends the rest of the recorded
// answer. A restarted client opens the session that its predecessor left if it has the same inputs, and
// gets the recorded answers to equal calls, even to a call that is still running. So work is neither lost
// nor repeated if either end of the connection fails.
//
// A byte stream, such as the standard input and output of a container's first process, has one session,
// and no call is sent again: see ServeStream and OpenStream.
//
// A failure of the machine itself is a *backend.PreemptedError. A stream that breaks is a *BrokenError.
package worker

// Protocol is the version of the messages between Server and Client. Both are usually the same program,
// since a client copies its own to the machine.
const Protocol = 1

// Environments is the clients' name of the directory of Python environments that sessions share. In
// arguments and variables of commands, a server replaces it by a directory of its machine.
const Environments = "/fevalgraph/environments"
