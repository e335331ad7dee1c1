// Package cache keeps what nodes made and what they were made of: a content
// store of blobs and REAPI Directory trees, action records (key -> output
// digests), and the index of source files' states.
//
// It knows nothing of nodes, graphs, HCL or tests: callers bring keys, which
// they computed, and bytes. The store is shared between projects and
// processes; the file index belongs to one project. It does not decide what is
// stale, and it talks to no network.
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
// # What survives what
//
// A process that is killed at any instant leaves whole files, and files in tmp
// that gc removes. Loss of power may also tear blobs and records, which no fsync protects: every read
// verifies, drops what is wrong and so makes the node stale. Records are written
// after their blobs. Damage to records and index is found by checksums and
// costs the entries it touches; it never becomes an answer.
package cache
