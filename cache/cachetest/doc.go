// Package cachetest is the conformance suite of cache.Store: what every
// implementation must do, said once. It does not test what only one of them
// has, such as files on a disk.
//
//	func TestMemory(t *testing.T) {
//		cachetest.TestStore(t, func(*testing.T) cache.Store { return cache.NewMemory() })
//	}
package cachetest
