// Package verifier holds the tasks of problems that a script judges which leaves a reward:
// Run runs it in a session of a backend, with the solution's files at absolute paths, and
// Score makes a verdict of what it left.
//
// The exit code of the script is ignored. What Run stores has a reward, or was ended by its
// limit: a script that left none, or one that is no number, proves nothing about the
// solution, so that is an error, and is done again.
package verifier
