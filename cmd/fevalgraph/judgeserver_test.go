package main

import (
	"errors"
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fevalgraph/fevalgraph/internal/testkit/fakejudge"
)

// judgeServer is the key of a script's server.
type judgeServer string

func judgeServerCommand(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: judgeserver NAME PROBLEM...")
	}
	s := fakejudge.New(args[1:]...)
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
	servers, _ := ts.Value(judgeServer("")).(map[string]*fakejudge.Server)
	servers[args[0]] = s
	return nil
}

func submittedCommand(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: submitted NAME N")
	}
	servers, _ := ts.Value(judgeServer("")).(map[string]*fakejudge.Server)
	if got := fmt.Sprint(len(servers[args[0]].Submitted())); got != args[1] {
		return fmt.Errorf("%s submissions arrived, want %s", got, args[1])
	}
	return nil
}
