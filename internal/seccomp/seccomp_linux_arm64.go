package seccomp

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_AARCH64
	otherNumbers = 0x40000000 // matches no number
	// Registers are read as a set.
	getRegisters = unix.PTRACE_GETREGSET
	getFloats    = unix.PTRACE_GETREGSET
)
