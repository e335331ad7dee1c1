package local

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// PrivateNetwork makes a private network, tries it and lets go of it. The
// error says why this machine does not allow that.
//
// It takes the right to administer the system (CAP_SYS_ADMIN), which root has,
// also in many containers. Others could get it in a user namespace of their
// own, but tests would notice: in there all files of other users, those of the
// system among them, have no owner, and setuid programs do nothing.
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

// enterPrivateNetwork gives the thread, which must be one of its own, a network
// namespace in which the loopback is up. What it starts as processes inherits it;
// it ends with the last of them.
func enterPrivateNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("making a private network: %w", os.NewSyscallError("unshare", err))
	}
	if err := isolation.LoopbackUp(); err != nil {
		return fmt.Errorf("making a private network: bringing up the loopback: %w", err)
	}
	return nil
}
