// Package lsp is a language server for configurations: it speaks the Language Server Protocol over a pair of
// streams. It handles texts and positions. Package lang interprets the texts (Options.Overlay passes the open ones), and
// eval/validate checks them.
//
// One goroutine reads messages in order. A notification is handled before the next message is read. A
// request gets the texts as they were when it was read, runs in a separate goroutine, and ends when it is
// cancelled. An edit ends an analysis that only diagnostics wait for. The server runs nothing that a project
// names.
//
// With a syntax error, names come from the part that still parses, and values from the last analysis of a whole text.
//
// The types of messages are in message.go: the server uses two pages of the protocol.
package lsp
