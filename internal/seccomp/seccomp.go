//go:build linux && (amd64 || arm64)

// Package seccomp denies a thread, and everything that it starts, system calls that honest programs do not
// need: calls that access other programs, that leave traces in the kernel for the next program, or in which the
// kernel had most of its vulnerabilities.
//
// A filter compares numbers and arguments, and cannot follow pointers. It does not prevent a program from
// opening /proc/PID/mem, and does not separate users, files or networks.
package seccomp

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Filter is a set of denied system calls.
type Filter int

const (
	// Reach denies system calls that neither programs nor servers in sandboxes need: keyrings, io_uring,
	// memory and descriptors of other processes, modules, socket families other than files and the Internet,
	// typing into terminals, leases of files, and the calls of another architecture.
	Reach Filter = 1 << iota
	// Namespaces denies mounts and namespaces.
	Namespaces
	// IPC denies System V IPC and the message queues of POSIX, both of which outlive programs.
	IPC
)

// rule denies a system call or, if it has values, certain arguments of it.
type rule struct {
	number uintptr
	errno  unix.Errno
	// argument is the position of the argument. Only its lower half counts, as in the kernel.
	argument int
	values   []uint32
	except   bool // deny everything except the values
	bits     bool // deny arguments that contain a bit of the values
}

const newNamespaces = unix.CLONE_NEWCGROUP | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWNS |
	unix.CLONE_NEWPID | unix.CLONE_NEWTIME | unix.CLONE_NEWUSER | unix.CLONE_NEWUTS

// families lists the allowed socket families. Netlink lists the interfaces of a machine.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// stopping lists the allowed ptrace requests, which stop a process and read its registers. LeakSanitizer, a
// part of AddressSanitizer, needs them; none changes memory.
var stopping = []uint32{unix.PTRACE_ATTACH, unix.PTRACE_DETACH, unix.PTRACE_CONT, getRegisters, getFloats, unix.PTRACE_GETREGSET}

// rules returns the rules of f.
func (f Filter) rules() []rule {
	var rules []rule
	deny := func(numbers ...uintptr) {
		for _, number := range numbers {
			rules = append(rules, rule{number: number, errno: unix.EPERM})
		}
	}
	if f&Reach != 0 {
		deny(unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
			unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
			unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
			unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
			unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD)
		rules = append(rules,
			// Programs continue without it if the kernel does not have it.
			rule{number: unix.SYS_IO_URING_SETUP, errno: unix.ENOSYS},
			rule{number: unix.SYS_IO_URING_ENTER, errno: unix.ENOSYS},
			rule{number: unix.SYS_IO_URING_REGISTER, errno: unix.ENOSYS},
			rule{number: unix.SYS_PTRACE, errno: unix.EPERM, values: stopping, except: true},
			rule{number: unix.SYS_SOCKET, errno: unix.EAFNOSUPPORT, values: families, except: true},
			rule{number: unix.SYS_SOCKETPAIR, errno: unix.EAFNOSUPPORT, values: families, except: true},
			rule{number: unix.SYS_IOCTL, errno: unix.EPERM, argument: 1, values: []uint32{unix.TIOCSTI, tioclinux, unix.TIOCSETD}},
			// A lease on a file of the system delays every program that opens the file.
			rule{number: unix.SYS_FCNTL, errno: unix.EPERM, argument: 1, values: []uint32{unix.F_SETLEASE}})
	}
	if f&Namespaces != 0 {
		deny(unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
			unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR)
		rules = append(rules,
			rule{number: unix.SYS_UNSHARE, errno: unix.EPERM, values: []uint32{newNamespaces}, bits: true},
			rule{number: unix.SYS_CLONE, errno: unix.EPERM, values: []uint32{newNamespaces}, bits: true},
			rule{number: unix.SYS_CLONE3, errno: unix.ENOSYS}) // its flags are in memory; libraries fall back to clone
	}
	if f&IPC != 0 {
		deny(unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
			unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK)
	}
	return rules
}

const tioclinux = 0x541c // pastes into a console

// Offsets in the data of a filter.
const (
	numberAt       = 0
	architectureAt = 4
	argumentsAt    = 16 // eight bytes each; the lower half comes first
)

func load(at int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(at)}
}

// jump skips holds instructions if a test of the loaded value is true, else not instructions.
func jump(test uint16, value uint32, holds, not int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: uint8(holds), Jf: uint8(not), K: value}
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

var allow = end(unix.SECCOMP_RET_ALLOW)

func refuse(errno unix.Errno) unix.SockFilter { return end(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

// program compiles f.
func (f Filter) program() []unix.SockFilter {
	program := []unix.SockFilter{
		load(architectureAt), jump(unix.BPF_JEQ, architecture, 1, 0), refuse(unix.ENOSYS),
		load(numberAt), jump(unix.BPF_JGE, otherNumbers, 0, 1), refuse(unix.ENOSYS),
	}
	for _, r := range f.rules() {
		program = append(program, r.program()...)
	}
	return append(program, allow)
}

// program compiles r. For other system calls, execution continues after it.
func (r rule) program() []unix.SockFilter {
	then := []unix.SockFilter{refuse(r.errno)}
	if len(r.values) > 0 {
		test, found, other := uint16(unix.BPF_JEQ), refuse(r.errno), allow
		if r.bits {
			test = unix.BPF_JSET
		}
		if r.except {
			found, other = other, found
		}
		then = []unix.SockFilter{load(argumentsAt + 8*r.argument)}
		for i, value := range r.values {
			then = append(then, jump(test, value, len(r.values)-i, 0))
		}
		then = append(then, other, found)
	}
	return append([]unix.SockFilter{jump(unix.BPF_JEQ, uint32(r.number), 0, len(then))}, then...)
}

// Install applies f to the calling thread, and to everything that it starts, permanently. Programs that it
// starts gain no privileges. The caller must have locked the thread.
func (f Filter) Install() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	program := f.program()
	sent := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// Without the flag, kernels before 5.16 slow down everything that the thread starts.
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&sent)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}
