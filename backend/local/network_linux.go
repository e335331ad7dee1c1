package local

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// PrivateNetwork makes a private network, tries it and removes it. The error tells why this machine does not
// allow that.
//
// It takes the right to administer the system (CAP_SYS_ADMIN), which root has, also in many containers.
// Other users could get it in a user namespace, but tests would notice: in there all files of other users,
// those of the system included, have no owner, and setuid programs do nothing.
func PrivateNetwork() error {
	return onOwnThread(func() error {
		if err := enterPrivateNetwork(); err != nil {
			return err
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			return fmt.Errorf("listening on a private network: %w", err)
		}
		return nil
	})
}

// enterPrivateNetwork moves the thread, which no other goroutine must use, into a network namespace in which
// the loopback is up. Processes that it starts inherit the namespace, which ends with the last of them.
func enterPrivateNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("making a private network: %w", os.NewSyscallError("unshare", err))
	}
	if err := isolation.LoopbackUp(); err != nil {
		return fmt.Errorf("making a private network: bringing up the loopback: %w", err)
	}
	return nil
}
