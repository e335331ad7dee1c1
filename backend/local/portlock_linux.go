package local

import (
	"io"
	"net"
	"strconv"
)

// tryPortLock takes the machine's lock of a port, and returns nil if another process has it.
//
// The lock is an abstract socket address. Such addresses have the same scope as ports, a network
// namespace: exactly the processes that can take the port see the lock, including other users and
// containers on the machine's network. No file needs an owner or cleaning up, and the kernel releases the
// address when the process ends.
func tryPortLock(port int) (io.Closer, error) {
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: "@fevalgraph/port/" + strconv.Itoa(port)})
	switch {
	case isInUse(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return l, nil
}
