// Package command contains the tasks of problems that a command judges, and of task blocks: Run runs the
// command in a session of a backend, and Score reads a score from its output (package score). Solve
// produces references by running the scripts of a problem in the container of agents.
//
// The exit of the command, its stdout and stderr, and a file are data. Score is a separate node, so that
// the command need not run again if the rule for reading the score changes. The command of a task block
// must succeed: if it fails, the error is a graph.FailedError, and dependents are blocked, so the failure
// never becomes their verdict.
package command
