package local

import (
	"io"
	"net"
	"strconv"
)

// tryPortLock takes the machine's lock of a port; nil when another has it.
//
// The lock is an abstract socket address. Such addresses have the very extent
// that ports have, a network namespace: who can take the port can see the
// lock, as another user or from a container on the machine's network too, and
// no other does. There is no file to own or to clean up, and the kernel
// lets go of it when the process ends.
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
