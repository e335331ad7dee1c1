//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
)

// remoteCache is the key of a script's remote caches.
type remoteCache string

func remoteCacheCommand(ts *testscript.TestScript, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: remotecache NAME")
	}
	s := remotetest.Start(defers{ts})
	ts.Setenv(args[0]+"_GRPC", "grpc://"+s.GRPC)
	ts.Setenv(args[0]+"_HTTP", s.HTTP)
	caches, _ := ts.Value(remoteCache("")).(map[string]*remotetest.Server)
	caches[args[0]] = s
	return nil
}

func remoteFaultCommand(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: remotefault NAME JSON")
	}
	caches, _ := ts.Value(remoteCache("")).(map[string]*remotetest.Server)
	var f remotetest.Faults
	if err := json.Unmarshal([]byte(args[1]), &f); err != nil {
		return err
	}
	if caches[args[0]] == nil {
		return fmt.Errorf("cache %s not found", args[0])
	}
	caches[args[0]].Fail(f)
	return nil
}

// defers is a script as a test whose end things wait for.
type defers struct{ *testscript.TestScript }

func (d defers) Helper()          {}
func (d defers) Fatal(why ...any) { d.Fatalf("%s", fmt.Sprint(why...)) }
func (d defers) Cleanup(f func()) { d.Defer(f) }
