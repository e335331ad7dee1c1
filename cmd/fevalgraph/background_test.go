//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// backgroundCommands returns the commands for programs that run next to a script.
//
//	signal NAME FILE       send the process whose id is in a file INT, STOP or CONT
//	awaits FILE N REGEXP   wait until a file has N matches
func backgroundCommands() map[string]func(*testscript.TestScript, []string) error {
	return map[string]func(*testscript.TestScript, []string) error{"signal": signalCommand, "awaits": awaitsCommand}
}

func signalCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "NAME FILE"); err != nil {
		return err
	}
	signal, known := map[string]syscall.Signal{"INT": syscall.SIGINT, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}[args[0]]
	if !known {
		return fmt.Errorf("unknown signal %s", args[0])
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[1])))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, signal)
}

func awaitsCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 3, "FILE N REGEXP"); err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile("(?m)" + args[2])
	if err != nil {
		return err
	}
	var content []byte
	found := await.For(func() bool {
		content, err = os.ReadFile(ts.MkAbs(args[0]))
		return err != nil && !errors.Is(err, fs.ErrNotExist) || len(pattern.FindAll(content, -1)) >= n
	})
	if !found {
		return fmt.Errorf("%s never has %q %d times:\n%s", args[0], args[2], n, content)
	}
	return err
}
