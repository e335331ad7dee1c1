//go:build unix && !linux

package unsynced

import "os"

func replace(from, to string) error { return os.Rename(from, to) }
