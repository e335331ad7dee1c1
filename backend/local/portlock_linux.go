package local

import (
	"io"
	"net"
	"strconv"
)

// tryPortLock takes the machine's lock of a port, and returns nil if another process has it.
//
// The lock is an abstract socket address. Such addresses have the same extent as ports, a network namespace:
// a process that can take the port can see the lock, also as another user or from a container on the
// machine's network, and no other process can. No file needs an owner or cleaning up, and the kernel
// releases the address when the process ends.
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
