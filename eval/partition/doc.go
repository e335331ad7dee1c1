// Package partition stores compiled and decided partitions of a project, so that a later call repeats
// neither for unchanged ones. A partition is the unit of both: the cells of a problem, or of a range of its
// solutions (plan.Partition).
//
//	partitions/index          Index: the inputs of the configuration, the state of what partitions share, and the partitions
//	partitions/configuration  the evaluated lang.Config, unless it has secrets or waits for results
//	partitions/<64 hex>       facts, rows and results of a partition (Store); written once, never changed
//	nodes                     Last: last answers of all nodes, attempts that broke since, and seconds
//
// A Trace records which paths and variables a call reads, node by node; the facts of a partition are
// snapshots of these paths.
//
// # When a partition is fresh
//
// Package eval compares, in this order. A difference makes the partition stale, which means that it is
// compiled and that package graph decides about its nodes.
//
//	base      the program, the path and ID of the store and its mode, the lock file, each environment
//	          variable that was read. If one differs, no partition is fresh.
//	inputs    files, filesets and listings that the configuration was evaluated from, and the options that
//	          name it. If one differs, HCL is evaluated again; partitions with an equal identity are kept.
//	identity  Partition.Fingerprint: all that the configuration says about the partition's cells.
//	facts     the state of each path that its nodes read, also of nodes that it shares with others; the
//	          identities of its backends; an age below 24 hours.
//
// The age makes the engine decide about each node once a day, which notes the use of its outputs, protects
// them from gc, and finds those that gc has removed.
//
// A recorded state can be trusted because a path is sighted before it is read and compared at the end of the
// call (cache.Snapshot): a file that was replaced in between is never recorded as the file that was read. A
// fileset records each directory that its search lists and each link that it follows.
//
// # Nodes of several partitions
//
// Facts name the nodes that a partition shares, and their outputs. If an execution gets other outputs for
// one, such as for a task that is not reproducible, eval compiles the partitions that were decided with the
// earlier outputs: a run never mixes two answers of one node.
//
// # Errors
//
// The index and last answers are sealed (internal/proof), and everything that they name is named by digest.
// A file that is damaged, or written by another user or program, is treated as missing, and costs a
// compilation. A partition file that is named by a run's manifest and damaged is ErrDamaged.
package partition
