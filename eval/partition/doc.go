// Package partition has the files by which a project knows what it was compiled to and
// decided: for each partition one with facts, nodes and results, the index of
// them, and the last answers of nodes; and the trace of what a run reads, from which they get their facts.
//
// It decides nothing. Whether a partition is fresh is for package eval to say, and whether
// a node is, for package graph.
package partition
