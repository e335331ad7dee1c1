// Package judge has the tasks of problems that are judged case by case, in a backend.Sandbox: bringing test
// data in, compiling, running a program on a case, checking its output or connecting it to an interactor,
// and scoring.
//
// What a program does is data and never an error: a solution that does not compile or crashes has a verdict,
// and a second run executes nothing. An error means that a sandbox or a problem's own checker gave no
// verdict; it is never scored.
package judge
