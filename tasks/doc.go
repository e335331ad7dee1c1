// Package tasks holds what the nodes of an evaluation do, apart from running
// the graded work itself: bringing source trees (assets, tests, submissions)
// into the content store, and aggregating verdicts. tasks/pytest runs pytest
// and reads its reports.
//
// A task knows its inputs as values and digests. It does not know HCL, decide
// staleness, retry, or print.
package tasks
