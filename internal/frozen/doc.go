// Package frozen encodes plain Go values to bytes and decodes them, for files that only the same program reads: the
// form has no field names and no versions. Pointers that share a value share it after decoding, too. Equal strings
// are written once, and share memory after decoding.
//
// It supports structs of exported fields, slices, maps with string keys, pointers, strings and numbers. It does not
// detect damage: the caller must store a checksum with the bytes. Damage that the checksum misses results in an
// error or a wrong value, never in a panic.
package frozen
