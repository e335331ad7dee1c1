package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// compareProject measures a run on a whole project after a change of no file, or of one.
func compareProject(o options) (*figures, error) {
	p, err := openProject(o)
	if err != nil {
		return nil, err
	}
	if err := p.bringUpToDate(o); err != nil {
		return nil, err
	}
	files := p.files()
	args := []string{o.command}
	if o.command == "explain" {
		args = append(args, fmt.Sprintf("pytest:p[%q]/%s/%s@local.host", problemName(0), checkpointName(0), solutionName(0)))
	}
	args = append(args, "-j", fmt.Sprint(o.jobs))
	jobs := fmt.Sprint("-j", o.jobs)
	f := &figures{name: o.name, nodes: p.nodes(), what: fmt.Sprintf("%s, %d source files", p.shape, len(files))}
	f.contenders = []*contender{
		{name: "fevalgraph", run: func(int) (time.Duration, *syscall.Rusage, error) {
			return command(p.dir, p.environ(), filepath.Join(p.bin, "fevalgraph"), args...)
		}},
		{name: "ninja", run: func(int) (time.Duration, *syscall.Rusage, error) {
			return command(p.dir, os.Environ(), "ninja", "--quiet", jobs)
		}},
		{name: "make", run: func(int) (time.Duration, *syscall.Rusage, error) {
			return command(p.dir, os.Environ(), "make", "-s", jobs)
		}},
		{name: "lstat loop", run: func(int) (time.Duration, *syscall.Rusage, error) {
			took, err := lstatLoop(p.dir, files)
			return took, nil, err
		}},
	}
	f.leaveOut(o.skip)
	var before func(int) error
	if o.name == "edit" {
		if o.command == "run" {
			f.contenders = append(f.contenders, p.parts(f.contenders[0], args)...)
		}
		start := int(time.Now().Unix()) // different files in each call
		before = func(round int) error {
			if err := p.edit(start + round); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond) // the file must be newer than the last outputs
			return nil
		}
	}
	return f, f.measure(o.runs, before)
}

// Parts of a run after an edit, which are not separate contenders.
const (
	sameAgain = "the same again" // a run right after it, without changes
	itsWork   = "its work"       // from its first decision to its last node, according to its record
)

// parts makes a contender for edits measure its parts, too.
func (p *project) parts(whole *contender, args []string) []*contender {
	again, work := &contender{name: sameAgain}, &contender{name: itsWork}
	run := whole.run
	whole.run = func(round int) (time.Duration, *syscall.Rusage, error) {
		took, usage, err := run(round)
		if err != nil {
			return 0, nil, err
		}
		seconds, err := p.lastRun()
		if err != nil {
			return 0, nil, err
		}
		work.count(round, time.Duration(seconds*float64(time.Second)), nil)
		idle, used, err := command(p.dir, p.environ(), filepath.Join(p.bin, "fevalgraph"), args...)
		again.count(round, idle, used)
		return took, usage, err
	}
	return []*contender{again, work}
}

// lastRun returns the duration of work in the last run, in seconds.
func (p *project) lastRun() (seconds float64, err error) {
	state := filepath.Join(p.dir, ".fevalgraph")
	id, err := os.ReadFile(event.LatestFile(state))
	if err != nil {
		return 0, err
	}
	end, _, err := event.OpenRun(event.Records{Dir: state}, strings.TrimSpace(string(id))).End()
	return end.Seconds, err
}

func (f *figures) leaveOut(names string) {
	var left []*contender
	for _, c := range f.contenders {
		if !strings.Contains(","+names+",", ","+c.name+",") {
			left = append(left, c)
		}
	}
	f.contenders = left
}

// bringUpToDate brings the project up to date for all contenders. The first time takes a while: every command
// of the graph runs once for each.
func (p *project) bringUpToDate(o options) error {
	jobs := fmt.Sprint("-j", o.jobs)
	edges := p.edges()
	if _, err := os.Stat(filepath.Join(p.dir, "build.ninja")); err != nil {
		if err := writeNinja(filepath.Join(p.dir, "build.ninja"), ": > $out", edges); err != nil {
			return err
		}
		if err := writeMake(filepath.Join(p.dir, "Makefile"), edges); err != nil {
			return err
		}
		for _, e := range edges {
			if err := os.MkdirAll(filepath.Join(p.dir, "m"+filepath.Dir(e.out)), 0o755); err != nil {
				return err
			}
		}
	}
	programs := [][]string{{"ninja", "--quiet", jobs}, {"make", "-s", jobs}}
	for _, argv := range programs {
		if strings.Contains(","+o.skip+",", ","+argv[0]+",") {
			continue
		}
		if _, _, err := command(p.dir, os.Environ(), argv[0], argv[1:]...); err != nil {
			return err
		}
	}
	fevalgraph := filepath.Join(p.bin, "fevalgraph")
	took, usage, err := command(p.dir, p.environ(), fevalgraph, "run", jobs)
	if err != nil {
		return err
	}
	fmt.Printf("first run: %.2fs, %d MiB\n", took.Seconds(), usage.Maxrss>>10)
	for range 2 { // new files are read again until their times are old enough
		time.Sleep(2500 * time.Millisecond)
		if _, _, err := command(p.dir, p.environ(), fevalgraph, "run", jobs); err != nil {
			return err
		}
	}
	return nil
}
