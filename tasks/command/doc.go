// Package command holds the tasks of problems that a program of their own
// judges: Run runs it in a session of a backend, and Score reads what it left
// behind. How a score is found there is package score's.
//
// What the program did is data: its exit, both of its outputs apart, and one
// file. It is read in a node of its own, so that another rule for reading runs
// nothing again.
package command
