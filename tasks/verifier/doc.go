// Package verifier has the tasks of problems that a script judges by leaving a reward: Run runs it in a
// session of a backend, with the solution's files at absolute paths, and Score makes a verdict of the
// reward.
//
// The exit code of the script is ignored. Run stores a reward, or that the limit of time ended the script. A
// script that left no reward, or no finite number, proves nothing about the solution: that is an error,
// never stored, and the work is done again.
package verifier
