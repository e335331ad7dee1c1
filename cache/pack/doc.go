// Package pack puts part of a store into one file, and takes it out again on a machine that
// shares nothing with the first but the file: a cache of a CI system, an artifact, a bucket.
//
// An archive is a zstd frame of a tar archive. Its entries are, in this order:
//
//	fevalgraph-pack       {"schema":1}
//	cas/<sha256>          blobs, by their names
//	ac/<key>              records in their stored form, by their names
//	extra/<path>          files of the caller's, by their names
//
// Its bytes depend on what is in it alone: owners, times and the order of writing leave no
// trace. Archives of the same work that two machines made differ where their records say
// which run did it, and how long it took. They can be read one after another in any order.
//
// An archive is as untrusted as anyone who might have written it: blobs have to be what their names
// say, and the reader decides about records by their signatures.
package pack
