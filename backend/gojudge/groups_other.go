//go:build !linux

package gojudge

import (
	"context"
	"errors"
	"os/exec"

	"github.com/fevalgraph/fevalgraph/backend"
)

func checkSupported() error {
	return &backend.ToolError{Tool: "go-judge", Err: errors.New("exact limits require Linux"),
		Hint: "set endpoint to a server on another machine"}
}

func tie(*exec.Cmd) {}

func confine() error { return nil }

func weigh(string, int) {}

func removeGroups(string) error { return nil }

// Reap does nothing: servers are not started on this system.
func Reap(context.Context, backend.Entry) error { return nil }

func groups(string) []string { return nil }
