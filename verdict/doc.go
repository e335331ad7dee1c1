// Package verdict holds the verdicts of an evaluation: what a checkpoint, a
// cell and a suite are judged to be, the policies that decide whether a
// checkpoint passes, scores, the figures over many cells, and the form in which
// all of these are kept in a store.
//
// A verdict is deterministic. Durations, messages of tests and whatever else
// varies from run to run are Measurements, stored apart, so that equal verdicts
// are equal bytes and stop a wave of reruns:
//
//	c := &verdict.Checkpoint{Name: "checkpoint_1", Class: verdict.Judged, Tests: tests}
//	err := verdict.Grade(c, verdict.StrictCoreCases)
//	blob, err := json.Marshal(c) // the stored form
//
// The package runs nothing, reads no test's output and renders nothing: tasks
// make verdicts, report shows them.
package verdict
