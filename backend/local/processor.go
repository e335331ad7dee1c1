package local

import (
	"runtime"
	"sync"
)

// SpareProcessor lets the Go runtime use one processor more than it would, once
// for the process. It is for programs that run many short commands at once: a
// thread that waits for its command in a system call keeps what the runtime calls
// a processor, and while none is left the runtime's monitor wakes every few
// microseconds to take it away, on a processor that the commands need.
func SpareProcessor() { spareProcessor() }

var spareProcessor = sync.OnceFunc(func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) })
