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
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// SSH reaches clusters with the program ssh.
type SSH struct {
	Config string // file of its settings; "" is ssh's own
	// Host is the host for all clusters, such as the login node of a Slurm; "" is one of
	// the cluster's name, which SkyPilot adds to ssh's settings.
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
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("ssh %s: %w: %s", cmd.Args[len(cmd.Args)-2], err, lastLine(said.String()))
	}
	return out, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Dial implements Remote: a process of ssh is the connection.
func (s SSH) Dial(_ context.Context, cluster, address string) (net.Conn, error) {
	cmd := s.command(context.Background(), cluster, "-W", address)
	ours, theirs := net.Pipe()
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, &said
	cmd.WaitDelay = 200 * time.Millisecond // what was to be sent goes nowhere, but Wait waits for it
	if err := cmd.Start(); err != nil {
		return nil, &backend.ToolError{Tool: "ssh", Err: err, Hint: "install OpenSSH's client"}
	}
	go func() {
		cmd.Wait() // a connection that ends says so to the reader
		theirs.Close()
	}()
	return &sshConn{Conn: ours, process: cmd.Process}, nil
}

// sshConn ends its process when it is closed.
type sshConn struct {
	net.Conn
	process *os.Process
}

func (c *sshConn) Close() error {
	err := c.Conn.Close()
	if killed := c.process.Kill(); killed != nil && !errors.Is(killed, os.ErrProcessDone) {
		err = errors.Join(err, killed)
	}
	return err
}
