//go:build !linux

package exhaustion

// Room returns nil: only Linux is supported.
func Room(string) error { return nil }

// RoomToBegin returns nil: only Linux is supported.
func RoomToBegin(string) error { return nil }
