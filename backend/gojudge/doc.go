// Package gojudge runs programs in the sandboxes of go-judge, over its HTTP interface: of a server that is
// running already, or of a server that is started for the run and ended with it.
//
// Programs and their files are content of the store. A Server puts each blob where its go-judge can read it,
// once: it uploads the blob to a server elsewhere, or writes it to a directory that a server of this run
// reads. Output goes the other way. Standard output and kept files are exact bytes; they never pass through
// JSON, which would damage bytes that are not UTF-8.
//
// A program gets its standard input as an open file, and can open it again for writing where its owner is
// the program's user. Therefore the file is a copy for one run, or belongs to another user: no input can be
// changed for the next run.
//
// A server that the run starts has a port, a token, control groups and directories that no other has. It is
// registered before it exists, and ends with the thread that started it. A request that go-judge had not
// begun is sent again, and counts as no attempt; any other failure of the server is an error.
//
// The package does not judge. It does not know what a checker is, and knows no status of go-judge's but
// those of single programs.
package gojudge

// Kind is the kind of servers' registry entries.
const Kind = "gojudge"
