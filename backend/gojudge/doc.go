// Package gojudge runs programs in the sandboxes of go-judge, over its HTTP
// interface: of a server that runs already, or of one that is started for the
// run and ended with it.
//
// Programs and their files are content of the store. A Server holds each blob
// where its go-judge can read it, once: it is uploaded to a server that runs
// elsewhere, and laid into a directory that a server of ours reads. What a
// program wrote goes the other way. Standard output and kept files are exact
// bytes whatever they are; they never pass through JSON, which would damage what
// is not UTF-8.
//
// A program gets its standard input as an open file, and can open it again for
// writing where its owner is the program's user. Therefore it is a copy of that
// one run's, or belongs to another user: no input can be changed for the
// next.
//
// It is no judge. It does not know what a checker is, and no status of
// go-judge's but those about single programs.
package gojudge

// Kind is what registry entries of servers are listed under.
const Kind = "gojudge"
