// Package pytest runs the tests of one checkpoint in a backend's session and reads the reports that pytest
// left, as two tasks: Run and Parse. Tests are grouped into core, functionality, regression and error by the
// file they are in and the markers they carry. What only Parse reads is in no key of Run, so a renamed group
// runs no test.
//
// A run with failing tests is done, and its report is data; a run that its limit ended is stored, because
// the limit is in the key. A report counts only if pytest's exit code, its output and its other report agree
// with it. An error means that the tests prove nothing about the submission.
package pytest
