package skypilot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/capped"
)

// SSH reaches clusters with the program ssh.
type SSH struct {
	Config string // file of its settings; "" is ssh's own
	// Host is the host for all clusters, such as the login node of a Slurm; "" means a
	// host named after the cluster, which SkyPilot adds to ssh's settings.
	Host string
}

func (s SSH) command(ctx context.Context, cluster string, args ...string) *exec.Cmd {
	all := []string{"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15", "-o", "StrictHostKeyChecking=accept-new"}
	if s.Config != "" {
		all = append(all, "-F", s.Config)
	}
	host := s.Host
	if host == "" {
		host = cluster
	}
	cmd := exec.CommandContext(ctx, "ssh", append(append(all, args...), host)...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Run implements Remote.
func (s SSH) Run(ctx context.Context, cluster, script string, in io.Reader) ([]byte, error) {
	cmd := s.command(ctx, cluster)
	cmd.Args = append(cmd.Args, script)
	cmd.Stdin = in
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if missing := (*exec.Error)(nil); errors.As(err, &missing) {
		return nil, &backend.ToolError{Tool: "ssh", Err: err, Hint: "install OpenSSH's client"}
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, withMessages(err, cmd.Args[len(cmd.Args)-2], said.String())
	}
	return out, nil
}

// withMessages adds the last messages of ssh to an error.
func withMessages(err error, host, said string) error {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("ssh %s: %s: %w", host, last, err)
	}
	return fmt.Errorf("ssh %s: %w", host, err)
}

// Dial implements Remote: the input and output of a process of ssh are the connection.
func (s SSH) Dial(_ context.Context, cluster, address string) (net.Conn, error) {
	cmd := s.command(context.Background(), cluster, "-W", address)
	in, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	read, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	defer out.Close()
	said := &capped.Buffer{Head: 1 << 10, Tail: 4 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, said // not copied by goroutines, so that the end is visible when the process ends
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(&backend.ToolError{Tool: "ssh", Err: err, Hint: "install OpenSSH's client"}, read.Close(), write.Close())
	}
	c := &sshConn{File: read, write: write, process: cmd.Process, host: cmd.Args[len(cmd.Args)-1], messages: said, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		cmd.Wait() // reading reports the end
	}()
	return c, nil
}

// sshConn is a net.Conn that ends its process when it is closed.
type sshConn struct {
	*os.File // to read from
	write    *os.File
	process  *os.Process
	host     string
	messages *capped.Buffer
	ended    chan struct{} // closed when the process has ended and said all
}

func (c *sshConn) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	return n, c.withOutput(err)
}

func (c *sshConn) Write(b []byte) (int, error) {
	n, err := c.write.Write(b)
	return n, c.withOutput(err)
}

// withOutput adds the messages of ssh to the error of an ended connection.
func (c *sshConn) withOutput(err error) error {
	if err == io.EOF || errors.Is(err, syscall.EPIPE) {
		<-c.ended
		if said := c.messages.Bytes(); len(said) > 0 {
			return withMessages(err, c.host, string(said))
		}
	}
	return err
}

func (c *sshConn) Close() error {
	err := errors.Join(c.File.Close(), c.write.Close())
	if killed := c.process.Kill(); killed != nil && !errors.Is(killed, os.ErrProcessDone) {
		err = errors.Join(err, killed)
	}
	return err
}

func (c *sshConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *sshConn) SetWriteDeadline(t time.Time) error { return c.write.SetWriteDeadline(t) }

func (c *sshConn) LocalAddr() net.Addr  { return sshAddr{} }
func (c *sshConn) RemoteAddr() net.Addr { return sshAddr{} }

// sshAddr is either end of a connection through ssh.
type sshAddr struct{}

func (sshAddr) Network() string { return "ssh" }
func (sshAddr) String() string  { return "ssh" }
