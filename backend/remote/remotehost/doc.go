// Package remotehost is the program in an action of an engine for remote execution: it executes the
// wire.Task on a worker's machine, with the backends of that machine, and writes a wire.Result.
//
// An engine reports a command's exit status and its two outputs. This program reports everything that
// verdicts depend on: signals, limits, output in the order of printing, leftover processes, denials of the
// kernel. So commands have the same results in an action as on this machine.
//
// It does not trust files of the input root: other commands might be able to write to the cache from which a
// worker links files. All content is compared with its digest.
package remotehost
