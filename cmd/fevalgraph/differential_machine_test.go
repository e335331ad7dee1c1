//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for go:linkname
)

// diffMachine describes the machine of a project's runs.
type diffMachine struct {
	isolated bool // commands are isolated, so that pytest's environment is kept in the user's cache
	coarse   bool // the file system of everything stamps files with whole seconds
}

// machineOf returns the machine of a seed. Half of each kind are lossy.
func machineOf(seed int) diffMachine {
	return diffMachine{isolated: seed%3 == 0, coarse: seed%5 == 1}
}

// setUp mounts the file system of a coarse machine at dir. It returns the machine without what this one cannot provide.
func (m diffMachine) setUp(t *testing.T, dir string) diffMachine {
	t.Helper()
	if possible, err := condition("full-isolation"); m.isolated && !possible {
		t.Logf("NOT TESTED HERE: damaged environments take isolation: %v", err)
		m.isolated = false
	}
	if m.coarse {
		if err := mountWholeSeconds(dir, dir+".img"); err != nil {
			t.Logf("NOT TESTED HERE: mounting a file system with whole seconds takes Linux and root: %v", err)
			m.coarse = false
		} else {
			t.Cleanup(func() { must(unmount(dir)) })
		}
	}
	return m
}

// env returns variables of all commands.
func (m diffMachine) env() []string {
	if m.isolated {
		return []string{"FEVALGRAPH_ISOLATION=full"}
	}
	return nil
}

// disturbances returns the steps that only this machine has, often enough to happen.
func (m diffMachine) disturbances() (all []func(w *diffWorld) string) {
	if m.isolated {
		all = append(all, diffDamageEnvironment, diffDamageEnvironment, diffDamageEnvironment)
	}
	if m.coarse {
		all = append(all, diffSameSecond, diffSameSecond, diffSameSecond, diffClock, diffClock)
	}
	return all
}

// envDamages change a prepared environment.
var envDamages = []struct {
	name   string
	damage func(env string) error
}{
	{"a right solution for all", func(env string) error {
		pytest := filepath.Join(env, "venv/bin/pytest")
		script := "#!/bin/sh\nprintf 'def put\\ndef get\\ndef pop\\n' >>kv.py\nexec \"$0.kept\" \"$@\"\n"
		return errors.Join(os.Rename(pytest, pytest+".kept"), os.WriteFile(pytest, []byte(script), 0o755))
	}},
	{"an empty pytest", func(env string) error { return os.Truncate(filepath.Join(env, "venv/bin/pytest"), 0) }},
	{"a bit, with its time put back", func(env string) error {
		path := filepath.Join(env, "venv/bin/pytest")
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content[len(content)/2] ^= 1
		return errors.Join(os.WriteFile(path, content, 0), os.Chtimes(path, info.ModTime(), info.ModTime()))
	}},
	{"a .pth", func(env string) error {
		return os.WriteFile(filepath.Join(env, "venv/bin/more.pth"), []byte("import os\n"), 0o644)
	}},
	{"no pytest", func(env string) error { return os.Remove(filepath.Join(env, "venv/bin/pytest")) }},
	{"another mode of pytest", func(env string) error { return os.Chmod(filepath.Join(env, "venv/bin/pytest"), 0o644) }},
	{"another time of pytest", func(env string) error {
		return os.Chtimes(filepath.Join(env, "venv/bin/pytest"), time.Now(), time.Now())
	}},
	{"half of the recorded state", func(env string) error {
		info, err := os.Stat(env + ".sealed")
		if err != nil {
			return err
		}
		return os.Truncate(env+".sealed", info.Size()/2)
	}},
	{"no recorded state", func(env string) error { return os.Remove(env + ".sealed") }},
	{"no environment", os.RemoveAll},
}

// diffDamageEnvironment damages pytest's environment before a run, or during one, and has pytest run afterwards.
func diffDamageEnvironment(w *diffWorld) string {
	envs := w.environments()
	if len(envs) == 0 {
		return "no environment to damage"
	}
	env := envs[w.rng.IntN(len(envs))]
	if _, known := w.prepared[env]; !known {
		w.prepared[env] = diffTree(env).digest(w.t)
	}
	one := envDamages[(int(w.seed)/3+w.harmed-1)%len(envDamages)] // all of them, in four seeds
	w.harmed++
	what := "damage the environment: " + one.name
	damage := func() {
		if err := one.damage(env); err != nil && !errors.Is(err, os.ErrNotExist) { // an earlier damage removed it
			w.t.Fatalf("step %d: %s: %v", w.step, what, err)
		}
	}
	if w.rng.IntN(2) == 0 {
		after := time.Duration(w.rng.IntN(150)) * time.Millisecond
		cmd := w.c.command("run", "--force", "kind=pytest")
		must(cmd.Start())
		time.Sleep(after)
		damage()
		w.finished(cmd, cmd.Wait())
		what += fmt.Sprintf(", %v after a run began", after)
	} else {
		damage()
	}
	for _, name := range diffTree(w.c.dir).files() {
		if strings.HasPrefix(name, "tests/test_") {
			w.c.append(name, fmt.Sprintf("# step %d\n", w.step))
		}
	}
	return what + "; append to all tests"
}

// environments returns the prepared environments.
func (w *diffWorld) environments() []string {
	paths, err := filepath.Glob(filepath.Join(w.c.place, "home/.cache/fevalgraph/environments/*/venv"))
	must(err)
	for i, path := range paths {
		paths[i] = filepath.Dir(path)
	}
	return paths
}

// restored fails unless environments that a run used are as before they were damaged.
func (w *diffWorld) restored(r *runRecord) {
	w.t.Helper()
	if !slices.ContainsFunc(r.executed, func(addr string) bool { return strings.HasPrefix(addr, "pytest:") }) {
		return
	}
	for env, want := range w.prepared {
		if _, err := os.Lstat(env); err != nil || diffTree(env).digest(w.t) != want {
			w.t.Fatalf("step %d: tests ran, and their environment %s is damaged: %v", w.step, env, err)
		}
	}
}

// diffSameSecond edits a file right before a run and right after it, in one second.
func diffSameSecond(w *diffWorld) string {
	d := diffTree(w.c.dir)
	name := d.source(w.rng)
	content, err := os.ReadFile(d.path(name))
	must(err)
	at := bytes.LastIndexByte(content, '\n') - 1
	if at < 0 {
		return "no byte of " + name
	}
	edit := func(b byte) time.Time {
		content[at] = b
		must(os.WriteFile(d.path(name), content, 0))
		info, err := os.Stat(d.path(name))
		must(err)
		return info.ModTime()
	}
	same := false
	for try := 0; !same && try < 2; try++ {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		before := edit('0' + byte(try))
		w.command("run")
		same = edit('a' + byte(w.rng.IntN(26))).Equal(before)
	}
	return fmt.Sprintf("a byte of %s, run, and another byte, in one second: %v", name, same)
}

// diffClock sets the clock of later commands.
func diffClock(w *diffWorld) string {
	ahead := []time.Duration{0, 3 * time.Second, time.Hour, -time.Hour}[w.rng.IntN(4)]
	w.c.env = append(w.machine.env(), diffClockVariable+"="+ahead.String())
	return fmt.Sprintf("a clock that is %v ahead", ahead)
}

// diffClockVariable sets the clock of a command ahead of the clock that stamps files.
const diffClockVariable = "FEVALGRAPH_TEST_DIFF_CLOCK"

// callerClock gives the time that package cache compares with times of files. The kernel stamps files with the same clock, so
// only a replacement can be ahead of them, as the clock of a client of a file server is.
//
//go:linkname callerClock github.com/fevalgraph/fevalgraph/cache.callerClock
var callerClock func() time.Time

// setCallerClock sets the clock of this process as the environment specifies.
func setCallerClock() {
	if ahead, err := time.ParseDuration(os.Getenv(diffClockVariable)); err == nil {
		callerClock = func() time.Time { return time.Now().Add(ahead) }
	}
}
