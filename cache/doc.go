// Package cache stores inputs and outputs of nodes: a content store of blobs and REAPI Directory trees,
// action records (key -> output digests), and the index of source files' states.
//
// It does not know nodes, graphs, HCL or tests: callers provide keys and bytes. Projects and processes
// share a store; a file index belongs to one project. The package does not decide what is stale, and does
// not use the network: see packages remote and reapi.
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
// Files become visible by rename, and a record only after its blobs. The modification time of a file is
// the time of its last use. GC counts the use of a record as a use of its blobs, and removes the least
// recently used files.
//
// # States of files
//
// A Sighting records the state of a path before its content is read. A Snapshot compares sightings with
// the states at the end, and later calls compare the snapshot with the present states, with one system
// call per path. A state younger than a tick of the file system's clock proves nothing; then the digest
// decides.
//
// # Errors
//
// A process that is killed at any moment leaves only complete files, and files in tmp that gc removes.
// Power loss can also tear blobs and records, which are not synced. Every read verifies: it drops a
// damaged blob (CorruptError) or record, which makes the node stale. A missing blob is a MissingError, and
// a record that another key signed is a ForeignError. Damage to the index only loses entries; it never
// causes a wrong answer.
package cache
