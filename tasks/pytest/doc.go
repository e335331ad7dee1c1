// Package pytest runs the tests of one checkpoint in a backend's session and
// reads the reports that pytest left, as two tasks: Run and Parse. Tests are
// grouped into core, functionality, regression and error by the file they are in
// and the markers they carry.
//
// The package decides what a test run meant. Whether it has to happen, where,
// and how its outcome is shown is decided elsewhere.
package pytest
