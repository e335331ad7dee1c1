//go:build linux && (amd64 || arm64)

package seccomp

import (
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// decide runs a filter on a system call, and returns the kernel's action.
func decide(t *testing.T, f Filter, arch uint32, number uintptr, arguments ...uint64) uint32 {
	t.Helper()
	var raw []bpf.RawInstruction
	for _, i := range f.program() {
		raw = append(raw, bpf.RawInstruction{Op: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	instructions, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the program has unknown instructions")
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	// The machine for packets is big-endian.
	data := make([]byte, argumentsAt+6*8)
	put := func(at int, v uint32) {
		data[at], data[at+1], data[at+2], data[at+3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
	}
	put(numberAt, uint32(number))
	put(architectureAt, arch)
	for i, a := range arguments {
		put(argumentsAt+8*i, uint32(a))
		put(argumentsAt+8*i+4, uint32(a>>32))
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func TestDecisions(t *testing.T) {
	const (
		thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
		high   = 1 << 32
		all    = Reach | Namespaces | IPC
	)
	denied := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }
	const allowed = uint32(unix.SECCOMP_RET_ALLOW)
	for _, test := range []struct {
		what      string
		filter    Filter
		arch      uint32
		number    uintptr
		arguments []uint64
		want      uint32
	}{
		{"read", all, architecture, unix.SYS_READ, nil, allowed},
		{"execve", all, architecture, unix.SYS_EXECVE, nil, allowed},
		{"a thread", all, architecture, unix.SYS_CLONE, []uint64{thread}, allowed},
		{"a namespace of users", all, architecture, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, denied(unix.EPERM)},
		{"a namespace of mounts and high bits", all, architecture, unix.SYS_CLONE, []uint64{high | unix.CLONE_NEWNS}, denied(unix.EPERM)},
		{"an own table of files", all, architecture, unix.SYS_UNSHARE, []uint64{unix.CLONE_FILES}, allowed},
		{"unsharing a network", all, architecture, unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWNET}, denied(unix.EPERM)},
		{"clone3", all, architecture, unix.SYS_CLONE3, nil, denied(unix.ENOSYS)},
		{"clone3 of a server", Reach | IPC, architecture, unix.SYS_CLONE3, nil, allowed},
		{"a mount of a server", Reach | IPC, architecture, unix.SYS_MOUNT, nil, allowed},
		{"mounting", all, architecture, unix.SYS_MOUNT, nil, denied(unix.EPERM)},
		{"a keyring", Reach, architecture, unix.SYS_KEYCTL, nil, denied(unix.EPERM)},
		{"a keyring by the numbers of another architecture", Reach, unix.AUDIT_ARCH_I386, 288, nil, denied(unix.ENOSYS)},
		{"reading by the numbers of x32", Reach, architecture, otherNumbers, nil, denied(unix.ENOSYS)},
		{"a keyring by the numbers of x32", Reach, architecture, otherNumbers + unix.SYS_KEYCTL, nil, denied(unix.ENOSYS)},
		{"io_uring", Reach, architecture, unix.SYS_IO_URING_SETUP, nil, denied(unix.ENOSYS)},
		{"attaching", Reach, architecture, unix.SYS_PTRACE, []uint64{unix.PTRACE_ATTACH}, allowed},
		{"reading registers", Reach, architecture, unix.SYS_PTRACE, []uint64{unix.PTRACE_GETREGSET}, allowed},
		{"seizing", Reach, architecture, unix.SYS_PTRACE, []uint64{unix.PTRACE_SEIZE}, denied(unix.EPERM)},
		{"writing memory", Reach, architecture, unix.SYS_PTRACE, []uint64{unix.PTRACE_POKEDATA}, denied(unix.EPERM)},
		{"being traced", Reach, architecture, unix.SYS_PTRACE, []uint64{unix.PTRACE_TRACEME}, denied(unix.EPERM)},
		{"writing another's memory", Reach, architecture, unix.SYS_PROCESS_VM_WRITEV, nil, denied(unix.EPERM)},
		{"settings of a terminal", Reach, architecture, unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, allowed},
		{"typing", Reach, architecture, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, denied(unix.EPERM)},
		{"typing with high bits", Reach, architecture, unix.SYS_IOCTL, []uint64{0, high | unix.TIOCSTI}, denied(unix.EPERM)},
		{"pasting", Reach, architecture, unix.SYS_IOCTL, []uint64{0, tioclinux}, denied(unix.EPERM)},
		{"a lock", Reach, architecture, unix.SYS_FCNTL, []uint64{3, unix.F_SETLK}, allowed},
		{"a lease", Reach, architecture, unix.SYS_FCNTL, []uint64{3, unix.F_SETLEASE, unix.F_WRLCK}, denied(unix.EPERM)},
		{"a lease with high bits", Reach, architecture, unix.SYS_FCNTL, []uint64{3, high | unix.F_SETLEASE, unix.F_RDLCK}, denied(unix.EPERM)},
		{"a socket of the Internet", Reach, architecture, unix.SYS_SOCKET, []uint64{unix.AF_INET6}, allowed},
		{"a pair of sockets", Reach, architecture, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX}, allowed},
		{"a socket of the machine's host", Reach, architecture, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK}, denied(unix.EAFNOSUPPORT)},
		{"a socket of the kernel's cryptography", Reach, architecture, unix.SYS_SOCKET, []uint64{unix.AF_ALG}, denied(unix.EAFNOSUPPORT)},
		{"shared memory", Reach | Namespaces, architecture, unix.SYS_SHMGET, nil, allowed},
		{"shared memory, denied", IPC, architecture, unix.SYS_SHMGET, nil, denied(unix.EPERM)},
		{"a queue of messages", IPC, architecture, unix.SYS_MQ_OPEN, nil, denied(unix.EPERM)},
	} {
		if got := decide(t, test.filter, test.arch, test.number, test.arguments...); got != test.want {
			t.Errorf("%s: got %#x, want %#x", test.what, got, test.want)
		}
	}
}
