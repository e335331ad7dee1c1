// Package plan compiles a configuration into the graph of its evaluation, and
// reads results back out of an executed graph. It is the only room that knows
// both the language and the tasks; it decides neither what is stale nor how
// anything is shown.
//
// Per cell (solution x backend x repeat) and checkpoint:
//
//	materialize(asset) --.                            shared by every cell of the problem
//	tests(checkpoint) ----+--> pytest --> parse --> aggregate(checkpoint > cell > suite)
//	submission(solution) -'
//
// An invalid problem is one node that fails, and each cell of it one that needs
// it.
package plan
