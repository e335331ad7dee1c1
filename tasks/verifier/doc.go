// Package verifier contains the tasks of problems that a script judges by writing a reward: Run runs it in
// a session of a backend, with the solution's files at absolute paths, and Score converts the reward to a
// verdict.
//
// The exit code of the script is ignored. Run stores a reward, or the fact that the script reached its
// time limit. If a script writes no reward, or not a finite number, that allows no conclusion about the
// solution: it is an error, which is never stored, and the work is repeated.
package verifier
