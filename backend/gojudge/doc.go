// Package gojudge runs programs in the sandboxes of go-judge, over its HTTP interface: of a server that is
// running already, or of a server that is started for the run and ended with it.
//
// Programs and their files are content of the store. A Server puts each blob where its go-judge can read
// it, once: it uploads the blob to a server elsewhere, or writes it to a directory that a server of this
// run reads. Standard output and kept files are transferred as exact bytes, not in JSON, which would
// damage bytes that are not UTF-8.
//
// A program gets its standard input as an open file, and can reopen it for writing if its owner is the
// program's user. So the file is a copy for one run, or belongs to another user: a program cannot change
// the input of the next run.
//
// A server that the run starts has its own port, token, control groups and directories. It is registered
// before it exists, and ends with the thread that started it. A request that go-judge did not begin is
// sent again without counting as an attempt; any other failure of the server is an error.
//
// The package does not judge: it runs single programs, and knows nothing about checkers.
package gojudge

// Kind is the kind of servers' registry entries.
const Kind = "gojudge"
