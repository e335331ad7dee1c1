package isolation

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// endOthers ends all other processes of the namespace, whose first process this is.
func endOthers() {
	for {
		_ = unix.Kill(-1, unix.SIGKILL)
		if _, err := unix.Wait4(-1, nil, unix.WALL, nil); errors.Is(err, unix.ECHILD) {
			return
		}
	}
}

// Probe returns an error as Process.Crowded does, for a program that the calling thread's user would run now without
// capabilities. Meanwhile this process can open fewer files.
func Probe() error {
	_, err := crowdedIn(crowded())
	return err
}

// crowded reports the limits that the kernel has for all programs of a user together and that others have nearly reached.
// No other process of the namespace can run.
func crowded() (said []byte) {
	if descriptorsCrowded() {
		said = append(said, saidDescriptors)
	}
	if pipesCrowded() {
		said = append(said, saidPipes)
	}
	return said
}

// room is the part of a limit that must be left. Others can hold less when this process looks than when the program
// needed it.
const room = 8

// descriptorsCrowded reports whether messages between sockets hold nearly as many descriptors as the soft limit of
// commands on open files, up to which a user's programs can send more.
func descriptorsCrowded() bool {
	const files = 1 << 10 // see backend.CommandLimits
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return false
	}
	soft := min(files, limit.Max)
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: soft - soft/room, Max: limit.Max}) != nil {
		return false
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	return errors.Is(unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(pair[0]), nil, 0), unix.ETOOMANYREFS)
}

// pipesCrowded reports whether the buffers of pipes have nearly as many pages as a user can have; beyond that, pipes
// are smaller.
func pipesCrowded() bool {
	left, most := setting("pipe-user-pages-soft")/room*os.Getpagesize(), setting("pipe-max-size")
	for left > 0 && most > 0 {
		var pipe [2]int
		if unix.Pipe2(pipe[:], unix.O_CLOEXEC) != nil {
			return false
		}
		defer unix.Close(pipe[0])
		defer unix.Close(pipe[1])
		size, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETPIPE_SZ, min(left, most))
		if err != nil {
			return errors.Is(err, unix.EPERM)
		}
		left -= size
	}
	return false
}

// setting returns a number of the kernel's settings of file systems; 0 means unknown.
func setting(name string) int {
	content, _ := os.ReadFile("/proc/sys/fs/" + name)
	n, _ := strconv.Atoi(string(bytes.TrimSpace(content)))
	return n
}
