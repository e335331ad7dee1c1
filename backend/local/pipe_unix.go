//go:build unix && !linux

package local

import "os"

func pipe() (r, w *os.File, err error) { return os.Pipe() }
