//go:build linux && amd64

package gojudge_test

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend/gojudge"
)

// marker leaves a mark wherever a program can, and prints where it finds a mark of another program.
const marker = `
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLACE(name, find, leave) do { if ((find) >= 0) puts("found " name); else if ((leave) >= 0) puts("left " name); } while (0)

static long call32(long number, long a, long b, long c, long d, long e) {
	long result; /* by the numbers of 32 bits */
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static int file(const char *dir, int flags) {
	char path[100];
	snprintf(path, sizeof path, "%s/fevalgraph-test-mark", dir);
	return open(path, flags, 0666);
}

int main(void) {
	const key_t key = 0x66657661;
	const int make = IPC_CREAT | 0666;
	PLACE("shared memory", shmget(key, 64, 0), shmget(key, 64, make));
	PLACE("semaphores", semget(key, 1, 0), semget(key, 1, make));
	PLACE("messages", msgget(key, 0), msgget(key, make));
	PLACE("shared memory by 32 bits", call32(395, key + 1, 64, 0, 0, 0), call32(395, key + 1, 64, make, 0, 0));
	PLACE("messages by 32 bits", call32(399, key + 1, 0, 0, 0, 0), call32(399, key + 1, make, 0, 0, 0));
	PLACE("a queue of POSIX", syscall(SYS_mq_open, "fevalgraph-test", O_RDWR, 0, NULL), syscall(SYS_mq_open, "fevalgraph-test", O_RDWR | O_CREAT, 0666, NULL));
	PLACE("a keyring", syscall(SYS_keyctl, 10, -4, "user", "fevalgraph-test", 0), syscall(SYS_add_key, "user", "fevalgraph-test", "x", 1, -4));
	for (const char **dir = (const char *[]){"/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp", "/w", "/run", "/", NULL}; *dir; dir++)
		if (file(*dir, O_RDONLY) >= 0) printf("found %s\n", *dir);
		else if (file(*dir, O_CREAT | O_WRONLY) >= 0) printf("left %s\n", *dir);
	if (syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) == 0) puts("reads memory");
	if (syscall(SYS_io_uring_setup, 0, NULL) < 0 && errno != ENOSYS) puts("io_uring");
	return 0;
}
`

// Programs run one after another in the same containers, regardless of who made these.
func TestMarks(t *testing.T) {
	store := newStore(t)
	s := gojudge.New(start(t, store), gojudge.Options{})
	p := shellProgram("cat >m.c <<'END'\n" + marker + "\nEND\ngcc m.c -o m && ./m")
	p.Limits.Memory = 1 << 30
	p.Limits.Kept = 10 << 20
	for range 12 { // there are several containers
		said := runProgram(t, s, store, p)
		for line := range strings.Lines(said) {
			if !strings.HasPrefix(line, "left /tmp") && !strings.HasPrefix(line, "left /w") {
				t.Errorf("got %q", line)
			}
		}
	}
}

// System calls of sanitizers are permitted.
func TestSanitizer(t *testing.T) {
	store := newStore(t)
	s := gojudge.New(start(t, store), gojudge.Options{})
	p := shellProgram(`printf '#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }' >a.c; gcc -fsanitize=address a.c -o a && ./a && echo fine`)
	p.Limits.Memory = 1 << 30
	if got := runProgram(t, s, store, p); got != "fine\n" {
		t.Errorf("got %q", got)
	}
}
