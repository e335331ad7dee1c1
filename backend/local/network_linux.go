package local

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// PrivateNetwork creates a private network, tests it and removes it. The error explains why this machine
// does not allow that.
//
// It requires CAP_SYS_ADMIN, which root has, even in many containers. Other users could get it in a user
// namespace, but tests would notice: there, files of other users and of the system have no owner, and
// setuid programs have no effect.
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

// enterPrivateNetwork moves the thread, which must be locked to the goroutine, into a network namespace
// whose loopback is up. Processes that it starts inherit the namespace, which ends with the last of them.
func enterPrivateNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("creating a private network: %w", os.NewSyscallError("unshare", err))
	}
	if err := isolation.LoopbackUp(); err != nil {
		return fmt.Errorf("creating a private network: bringing up the loopback: %w", err)
	}
	return nil
}
