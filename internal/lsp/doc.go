// Package lsp is a language server for configurations: it speaks the Language Server Protocol over a pair of
// streams. It knows texts and positions. Package lang knows what they mean (Options.Overlay gives it the
// open texts), eval/validate whether they are right, and eval what was judged: diagnostics are those of
// validate, lenses and failed tests those of status.
//
// One goroutine takes messages in order. A notification is handled before the next message is read. A
// request gets the texts as they were when it was read, runs in a separate goroutine, and ends when it is
// cancelled. An edit ends an analysis that only diagnostics wait for. The server runs nothing that a project
// names.
//
// With a syntax error, names come from what still parses, and values from the last analysis of a whole text.
//
// The types of messages are in message.go: the server uses two pages of the protocol.
package lsp
