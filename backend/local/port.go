//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/retry"
)

const (
	// portPoll is the interval for checking a port: short compared with a test run, and long enough to cost
	// little.
	portPoll = 50 * time.Millisecond

	// portPatience is how long a wait goes unreported. A short wait can be due to a process of ours that was
	// just forked, and that has a copy of the lock until it executes its program.
	portPatience = time.Second

	// lingerLimit limits the wait for a port that is in use although no process listens on it. Linux keeps it
	// for a minute after its last connection was closed, and servers that do not set SO_REUSEADDR would fail.
	lingerLimit = 75 * time.Second
)

// reserve locks ports of the machine for one command, against commands of all sessions, and waits until
// they are free. It reports to note, which can be nil, what it is waiting for. It returns an error for a
// port that another process listens on.
func reserve(ctx context.Context, ports []int, note io.Writer) (release func(), err error) {
	if note == nil {
		note = io.Discard
	}
	var held []io.Closer
	release = func() {
		for _, h := range held {
			h.Close()
		}
	}
	ports = slices.Clone(ports)
	slices.Sort(ports) // all commands lock them in this order, so they cannot deadlock
	for _, port := range slices.Compact(ports) {
		lock, err := awaitPortLock(ctx, port, note)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, lock)
		if err := awaitPort(ctx, port, note); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

func awaitPortLock(ctx context.Context, port int, note io.Writer) (io.Closer, error) {
	for wait := newPortWait(note); ; {
		lock, err := tryPortLock(port)
		if err != nil {
			return nil, fmt.Errorf("locking port %d: %w", port, err)
		}
		if lock != nil {
			return lock, nil
		}
		if err := wait.pause(ctx, "waiting for port %d, which another session on this machine uses\n", port); err != nil {
			return nil, err
		}
	}
}

// awaitPort waits until the port is free.
func awaitPort(ctx context.Context, port int, note io.Writer) error {
	for wait := newPortWait(note); ; {
		err := bindable(port)
		switch {
		case err == nil:
			return nil
		case !isInUse(err):
			return fmt.Errorf("port %d of this machine is not available: %w", port, err)
		case listened(ctx, port), time.Since(wait.began) > lingerLimit:
			return fmt.Errorf("port %d of this machine is in use by another program; end it, or see `fevalgraph doctor` about private networks", port)
		}
		if err := wait.pause(ctx, "waiting for port %d, which recently closed connections still occupy\n", port); err != nil {
			return err
		}
	}
}

// portWait is a wait for a port.
type portWait struct {
	began    time.Time
	note     io.Writer
	notified bool
}

func newPortWait(note io.Writer) *portWait { return &portWait{began: time.Now(), note: note} }

// pause sleeps for portPoll. After portPatience, it reports what it is waiting for.
func (w *portWait) pause(ctx context.Context, format string, port int) error {
	if !w.notified && time.Since(w.began) > portPatience {
		w.notified = true
		fmt.Fprintf(w.note, format, port)
	}
	return retry.Sleep(ctx, portPoll)
}

// bindable returns an error unless a server that sets no socket options could bind the port on all
// addresses.
func bindable(port int) error {
	if err := bind(unix.AF_INET, &unix.SockaddrInet4{Port: port}); err != nil {
		return err
	}
	err := bind(unix.AF_INET6, &unix.SockaddrInet6{Port: port})
	if isInUse(err) {
		return err
	}
	return nil // other errors mean that the machine has no IPv6
}

// bind binds an address without listening: a process that is just being forked can hold a copy of the
// socket for a moment, and clients must not be able to connect to it.
func bind(family int, address unix.Sockaddr) error {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if family == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	return os.NewSyscallError("bind", unix.Bind(fd, address))
}

// listened reports whether a process listens on the port, as opposed to remains of closed connections.
func listened(ctx context.Context, port int) bool {
	dialer := net.Dialer{Timeout: time.Second}
	for _, host := range []string{"127.0.0.1", "::1"} {
		c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			c.Close()
			return true
		}
	}
	return false
}

func isInUse(err error) bool { return errors.Is(err, unix.EADDRINUSE) }
