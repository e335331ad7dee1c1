// Package remotehost is the program in an action of an engine for remote execution: it does the wire.Task on
// the machine of a worker, with the backends of that machine, and leaves a wire.Result.
//
// An engine knows a command's exit status and its two outputs. This program knows all that a verdict is made
// of: signals, limits, output in the order in which it was printed, leftover processes, denials of the
// kernel. So a command ends in an action as it ends on this machine.
//
// It trusts no file of the input root: where other commands can write to the cache that a worker links files
// from, content can differ. Everything is compared with its digest.
package remotehost
