// Package lsp is a language server for configurations: it speaks the Language Server Protocol
// over a pair of streams. It knows texts and places; what they mean is asked of lang, whether
// they are right of eval/validate, and what was judged of eval.
//
// Messages are taken in order by one goroutine. A notification is done before the next message
// is read. A request sees the texts as they were when it was read, in a goroutine of its own,
// and ends when it is cancelled. Nothing that a project names is executed.
package lsp
