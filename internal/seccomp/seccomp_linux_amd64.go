package seccomp

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_X86_64
	otherNumbers = 0x40000000 // numbers of the x32 ABI
	getRegisters = unix.PTRACE_GETREGS
	getFloats    = unix.PTRACE_GETFPREGS
)
