package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/docker/docker/client"

	"github.com/fevalgraph/fevalgraph/backend"
)

// tool is the name of the daemon in errors about missing tools.
const tool = "docker"

// explain turns an error of the client library into an error that the user can act on. The daemon's own
// messages stay unchanged.
func (d *Daemon) explain(err error) error {
	var dial *net.OpError
	unreachable := client.IsErrConnectionFailed(err) || errors.As(err, &dial) && dial.Op == "dial"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &backend.ToolError{Tool: tool, Err: fmt.Errorf("the daemon at %s does not answer", d.host),
			Hint: "see its log; restart a daemon that hangs"}
	case isLost(err):
		return &backend.ToolError{Tool: tool, Err: fmt.Errorf("lost the daemon at %s: %w", d.host, err), Hint: "see its log"}
	case unreachable && errors.Is(err, fs.ErrPermission):
		return &backend.ToolError{Tool: tool, Err: fmt.Errorf("no permission to use the daemon at %s", d.host),
			Hint: "join the group that owns the socket, often docker, and log in again, or set DOCKER_HOST to a daemon of your own"}
	case unreachable:
		return &backend.ToolError{Tool: tool, Err: fmt.Errorf("no daemon answers at %s%s", d.host, detail(err)),
			Hint: "start it, or set DOCKER_HOST to where one listens"}
	}
	return err
}

// detail returns the part of the library's message beyond its standard phrase.
func detail(err error) string {
	if strings.HasPrefix(err.Error(), "Cannot connect to the Docker daemon") {
		return ""
	}
	return ": " + err.Error()
}

// isLost reports whether an established connection ended too early.
func isLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// mentions reports whether an error of the daemon has one of the phrases. Its API has no codes for most
// errors of containers.
func mentions(err error, phrases ...string) bool {
	text := strings.ToLower(err.Error())
	for _, phrase := range phrases {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}
