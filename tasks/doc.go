// Package tasks contains the work of nodes that run no graded program: storing source trees (assets,
// tests, submissions) in the content store, identifying images, and aggregating verdicts. Subpackages
// contain the work of each kind of problem.
//
// A task knows its inputs as values and digests. It does not know HCL, decide staleness, retry, or print. It
// reads the file system through Sources, or observes a path before it reads, so that a partition can record
// it.
//
// An error means that the machine failed, or is a *graph.InputError about a source that the user named. A
// submission that cannot be judged is not an error but a graph.RefusedOutput; unfit.go decides which
// defects are its author's fault.
package tasks
