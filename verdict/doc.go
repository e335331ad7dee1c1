// Package verdict defines the verdicts of an evaluation on checkpoints, cells and suites, the policies that
// decide whether a checkpoint passes, scores, the figures over many cells, and their stored form.
//
// A verdict is deterministic. Durations, messages of tests and other data that vary from run to run are
// Measurements, stored separately, so that equal verdicts are equal bytes and their dependents stay fresh:
//
//	c := &verdict.Checkpoint{Name: "checkpoint_1", Class: verdict.Judged, Tests: tests}
//	err := verdict.Grade(c, verdict.StrictCoreCases)
//	blob, err := json.Marshal(c) // the stored form
//
// The package does not run programs, parse output of tests or render results: tasks produce verdicts, and
// report shows them.
package verdict
