// Package pytest runs the tests of a checkpoint in a backend's session, and reads the report that a plugin
// writes in pytest's process, as two tasks: Run and Parse. Tests are grouped into core, functionality,
// regression and error by file and markers. Settings that only Parse reads are not in the key of Run, so
// renaming a group does not run tests.
//
// A run with failing tests is done, and its report is data. A run that reached its limit is stored,
// because the limit is in the key. The report counts only with a seal, and if pytest ended as it reports. An
// error means that the tests allow no conclusion about the submission.
package pytest
