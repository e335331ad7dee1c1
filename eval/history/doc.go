// Package history reads the records of runs: results, nodes that were decided or served, and exit states. It
// needs no valid configuration, and evaluates nothing.
package history
