// Package command has the tasks of problems that a command judges, and of task blocks: Run runs the command
// in a session of a backend, and Score reads a score from its output (package score). Solve makes references by
// the scripts of a problem, where agents work.
//
// The exit of the command, both outputs and one file are data. Score is a separate node, so that another
// rule for reading runs nothing again. The command of a task block must succeed: if it fails, the error is a
// graph.FailedError, and what needs its outputs is blocked, so a failure is never a verdict of that.
package command
