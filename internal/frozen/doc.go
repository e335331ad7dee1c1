// Package frozen encodes plain Go values to bytes and decodes them, for files that only the very same
// program reads: the form has no names and no versions. Pointers that share a value share it after decoding,
// too, equal texts are written once, and reading copies no text.
//
// It supports structs of exported fields, slices, maps with texts as keys, pointers, texts and numbers. It
// does not detect damage: the caller must store a checksum with the bytes. Damage that the checksum misses
// is an error or a wrong value, never a panic.
package frozen
