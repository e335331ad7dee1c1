package local

import (
	"runtime"
	"sync"
)

// SpareProcessor raises GOMAXPROCS by one, once per process, for programs that
// run many short commands at a time. A thread that waits for its command in a
// system call holds a P, and while no P is free, the runtime's monitor wakes
// every few microseconds to retake one, using processor time that the commands
// need.
func SpareProcessor() { spareProcessor() }

var spareProcessor = sync.OnceFunc(func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) })
