// Package frozen writes plain Go values down as bytes and reads them again, for
// files that only the very same program reads: the form has no names and no
// versions. What pointers share in the value they share afterwards, texts that are equal are
// written once, and reading copies no text.
//
// It is for structs of exported fields, slices, maps with texts as keys, pointers,
// texts and numbers. It is no defence against damage: whoever keeps the bytes
// keeps a checksum with them. Damage that the checksum misses is an error or a
// wrong value, never a panic.
package frozen
