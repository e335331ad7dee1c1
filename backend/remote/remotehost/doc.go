// Package remotehost is the program that runs in an action of an engine for remote execution:
// it does what a wire.Task says on the machine of a worker, with the backends of that
// machine, and leaves a wire.Result.
//
// An engine knows of a command its exit status, and what it printed, apart. This program
// knows all that a verdict is made of: signals, limits, output in the order in which it was
// printed, processes that were left, what the kernel denied. So a command ends in an action
// as it ends on this machine.
//
// It trusts no file of the input root: where commands of others may write to the cache that a
// worker links files from, their content is another. Everything is compared with its digest.
package remotehost
