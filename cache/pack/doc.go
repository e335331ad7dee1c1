// Package pack writes a part of a store to a file, and reads it on a machine that shares only this file
// with the first: through the cache of a CI system, an artifact, or a bucket.
//
// An archive is a zstd frame of a tar archive. Its entries are, in this order:
//
//	fevalgraph-pack       {"schema":1}
//	cas/<sha256>          blobs, by their names
//	ac/<key>              records in their stored form, by their names
//	extra/<path>          files of the caller's, by their names
//
// Its bytes depend only on the content, not on owners, times or the order of writing. Archives of the same
// work from two machines differ only in the runs and durations in their records. They can be read one
// after another in any order.
//
// An archive is untrusted: blobs must match their names, and the reader decides about records by their
// signatures.
package pack
