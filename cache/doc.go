// Package cache stores what nodes made and what they were made of: a content store of blobs and REAPI
// Directory trees, action records (key -> output digests), and the index of source files' states.
//
// It knows nothing of nodes, graphs, HCL or tests: callers bring keys, which they computed, and bytes.
// Projects and processes share a store; a file index belongs to one project. The package does not decide
// what is stale, and uses no network: see packages remote and reapi.
//
//	d, err := cache.OpenDisk(dir, cache.Options{})
//	g, err := d.PutFile(ctx, "kv.py", nil)
//	tree, err := cache.BuildTree([]cache.Entry{{Path: "kv.py", Digest: g}})
//	err = tree.Store(ctx, d)
//	err = d.PutRecord(ctx, key, &cache.Record{
//		Class:   cache.ClassDone,
//		Outputs: []cache.Output{{Name: "tree", Digest: tree.Root, Tree: true}},
//	})
//
// # On disk
//
//	VERSION, ID         the layout, and an identity that last answers name
//	cas/<xx>/<sha256>   a blob: its bytes; of a tree, a Directory message
//	ac/<xx>/<key>       a record, signed: see EncodeRecord
//	locks/              locks of keys, and the lock that gc holds while it removes files
//	tmp/                files that are being written
//
// Files become visible by rename, and a record only after its blobs. The modification time of a file is the
// time of its last use; GC passes the use of a record on to its blobs, and removes what was not used for the
// longest time.
//
// # States of files
//
// A Probe sights the state of a path before its content is read. A Snapshot compares sightings with the
// states at the end, and later calls compare the snapshot with the present, at one system call a path. A
// state younger than a tick of the file system's clock proves nothing; then the digest decides.
//
// # Errors
//
// A process that is killed at any instant leaves whole files, and files in tmp that gc removes. Loss of
// power can also tear blobs and records, which no fsync protects. Every read verifies: it drops a damaged
// blob (CorruptError) or record, and so makes the node stale. A blob that is not there is a MissingError,
// and a record that another key signed a ForeignError. Damage to the index costs the entries it touches; it
// never becomes an answer.
package cache
