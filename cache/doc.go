// Package cache keeps what nodes made and what they were made of: a content
// store of blobs and REAPI Directory trees, action records (key -> output
// digests), the per-project build log, and the index of source files' states.
//
// It knows nothing of nodes, graphs, HCL or tests: callers bring keys, which
// they computed, and bytes. The store is shared between projects and
// processes; the build log and the file index belong to one project.
package cache
