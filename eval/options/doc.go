// Package options specifies the project of a call and its access to the outside world: environment, keys,
// trust, directories, benchmarks, kinds of backends.
//
// # Directories
//
// A project has a state directory, .fevalgraph or FEVALGRAPH_DIR. It can arrive with a project from
// elsewhere, so files that decide something are proven with the user's key, and unproven ones are treated as
// missing (StateForeign reports it):
//
//	nodes, partitions/          compiled and decided nodes (package partition): sealed, or named by
//	                            digest in a sealed file
//	files                       the file index (package cache): sealed
//	runs/<id>/, latest          records of runs (package event): proven by runs/<id>/sums
//	sessions/<id>.jsonl         existing sessions (package backend): each entry proven
//	clusters/<name>.json        leases of clusters (package skypilot): proven
//	images/, sandboxes/, machines/   reports of backends about themselves: sealed
//	store/                      results, while the shared store is read-only
//	answers/                    the store, last answers and records of gen
//
// Sealed files are bound to the real path of the directory and to their names (package proof). Records of
// runs are history and bound to their ids alone.
//
// Projects share a store, FEVALGRAPH_CACHE_DIR or a directory of the user's cache (package cache). The user
// has a directory for keys and trust (package user), which no project can name.
//
// Errors have the class of exit code that they call for (package exit).
package options
