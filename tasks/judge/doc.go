// Package judge contains the tasks of problems that are judged case by case, in a backend.Sandbox: storing
// test data, compiling, running a program on a case, checking its output or connecting it to an
// interactor, and scoring.
//
// The behaviour of a program is data and never an error: a solution that does not compile or crashes has a
// verdict, which is stored. An error means that the sandbox failed or the problem's own checker gave no
// verdict; it is never scored.
package judge
