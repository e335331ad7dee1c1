//go:build unix

package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// Exec implements backend.Session. The command gets Env plus HOME and TMPDIR,
// unless Env sets them, plus FEVALGRAPH_SESSION. Argv[0] is looked up in the
// PATH of Env; with a slash it is relative to the command's directory. A
// program that cannot be started is a *backend.ToolError.
//
// When the main process has ended, all other processes that the command started are killed. On timeout or
// cancellation, its process group gets SIGTERM and, after the grace, SIGKILL.
func (s *session) Exec(ctx context.Context, c backend.Command) (backend.Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return backend.Exit{}, err
	}
	if s.work == nil {
		return backend.Exit{}, fmt.Errorf("running a command: session: %w", fs.ErrClosed)
	}
	cmd, err := s.command(c)
	if err != nil {
		return backend.Exit{}, err
	}
	if len(c.Ports) > 0 && s.b.Network() != backend.PrivateNetwork {
		release, err := reserve(ctx, c.Ports, c.Notes)
		if err != nil {
			return backend.Exit{}, fmt.Errorf("running %s: %w", c.Argv[0], err)
		}
		defer release()
	}
	used, err := s.b.usePrepared(ctx, c)
	if err != nil {
		return backend.Exit{}, err
	}
	if c.Attach {
		return s.attach(ctx, cmd, c)
	}
	writers := []io.Writer{c.Output}
	if c.Errors != nil {
		writers = append(writers, c.Errors)
	}
	outputs, err := outputsOf(writers...)
	if err != nil {
		return backend.Exit{}, &backend.ToolError{Tool: c.Argv[0], Err: err}
	}
	cmd.Stdout, cmd.Stderr = outputs[0].command, outputs[len(outputs)-1].command
	watched := s.work.Watch()
	exit, err := s.run(ctx, cmd, c, outputs)
	watched()
	if kept := finish(outputs); err == nil && kept != nil {
		err = fmt.Errorf("running %s: %w", c.Argv[0], kept)
	}
	if err == nil {
		err = verifyAll(used)
		if s.level == isolation.None { // otherwise the command cannot have changed them
			err = backend.Spoiled(err)
		}
	}
	return exit, err
}

// command returns the process to start, without its files.
func (s *session) command(c backend.Command) (*exec.Cmd, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("running a command: no program is specified")
	}
	dir, err := s.work.Directory(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("running %s in %q: %w", c.Argv[0], c.Dir, err)
	}
	if c.At != "" {
		if dir = c.At; dir == "." {
			dir = "/"
		}
	}
	search, set := getenv(c.Env, "PATH")
	if !set {
		search = s.b.opt.Path
	}
	program, err := lookPath(c.Argv[0], search, dir)
	if err != nil {
		hint := "install it, or add its directory to the PATH of the backend"
		if s.b.inside != nil {
			hint = "use an image that has it, or add its directory to PATH"
		}
		if strings.Contains(c.Argv[0], "/") {
			hint = ""
		}
		return nil, &backend.ToolError{Tool: c.Argv[0], Err: err, Hint: hint}
	}
	nothing, err := openNothing()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", c.Argv[0], err)
	}
	return &exec.Cmd{
		Path: program, Args: c.Argv, Dir: dir, Env: s.environment(c.Env), Stdin: nothing,
		// In the caller's session the command could type into the caller's terminal.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}, nil
}

// openNothing opens the empty standard input of all commands, once.
var openNothing = sync.OnceValues(func() (*os.File, error) { return os.Open(os.DevNull) })

// environment completes the environment of a command.
func (s *session) environment(env []string) []string {
	if s.b.inside != nil {
		return env
	}
	env = slices.Clone(env)
	if _, set := getenv(env, "HOME"); !set {
		env = append(env, "HOME="+s.work.Home())
	}
	if _, set := getenv(env, "TMPDIR"); !set {
		env = append(env, "TMPDIR="+s.work.Temp())
	}
	return append(env, cookieVariable+"="+s.mark.cookie)
}

// run starts cmd, waits for its end and ends everything that it started.
func (s *session) run(ctx context.Context, cmd *exec.Cmd, c backend.Command, outputs []*output) (backend.Exit, error) {
	if err := s.b.inside.begin(s, c.Offline); err != nil {
		return backend.Exit{}, fmt.Errorf("running %s: %w", c.Argv[0], err)
	}
	s.ran = true
	forksBefore, began := forks.recent(), time.Now()
	p, err := s.launch(cmd, c)
	if err != nil {
		return backend.Exit{}, err
	}
	if !s.dirty && !p.isolated.Attends() { // otherwise the search includes older processes
		s.dirty, s.since = true, since{pid: p.cmd.Process.Pid, forks: forksBefore}
	}
	release := limit(ctx, p, c.Timeout, s.b.opt.Grace)
	s.b.inside.reapOrphans(p)
	watchErr := watch(p, outputs)
	timedOut, stopped := release()
	exit := backend.Exit{TimedOut: timedOut, Stopped: stopped, Seconds: time.Since(began).Seconds()}
	waitErr := p.reap()
	status, statusErr := p.status(c.Argv[0], timedOut)
	if p.isolated != nil {
		s.crowded = cmp.Or(s.crowded, p.isolated.Crowded())
	}
	if err := errors.Join(watchErr, s.end()); err != nil {
		return exit, fmt.Errorf("running %s: %w", c.Argv[0], err)
	}
	if cause := context.Cause(ctx); cause != nil && !timedOut {
		return exit, cause
	}
	var failed *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &failed) {
		return exit, fmt.Errorf("waiting for %s: %w", c.Argv[0], waitErr)
	}
	if statusErr != nil {
		return exit, statusErr
	}
	exit.OOM = s.b.inside.outOfMemory()
	exit.Code = status.ExitStatus() // -1 if a signal ended it
	if status.Signaled() {
		exit.Signal = status.Signal().String()
	}
	return exit, nil
}

// status returns how the command ended. It must be called once, after reap. timedOut reports that the
// limit ended it.
func (p *process) status(program string, timedOut bool) (syscall.WaitStatus, error) {
	own, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if p.isolated == nil {
		return own, nil
	}
	ended, known, err := p.isolated.End()
	var start *isolation.StartError
	switch {
	case errors.As(err, &start):
		return own, &backend.ToolError{Tool: program, Err: start.Err}
	case err != nil:
		return own, fmt.Errorf("running %s: %w", program, err)
	case known:
		return ended, nil
	case timedOut && own.ExitStatus() == undying:
		return syscall.WaitStatus(unix.SIGTERM), nil
	case p.isolated.Attends() && !own.Signaled():
		return own, fmt.Errorf("running %s: its isolation ended with exit status %d", program, own.ExitStatus())
	}
	return own, nil
}

// undying is the exit status of a Go program that a signal should end but cannot, because it is the first
// process of a namespace: an isolation process that did not handle signals yet.
const undying = 2

// launch starts cmd, isolated if the session is.
func (s *session) launch(cmd *exec.Cmd, c backend.Command) (*process, error) {
	private := s.b.inside == nil && (c.Offline || len(c.Ports) > 0 && s.b.Network() == backend.PrivateNetwork)
	if s.level == isolation.None {
		return s.launchOn(cmd, c, private)
	}
	isolated, err := s.isolate(cmd, c, private)
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", c.Argv[0], err)
	}
	p, err := s.launchOn(cmd, c, private && s.level != isolation.Full) // otherwise its namespaces give it a network
	begun := isolated.Begin(err == nil)
	if err == nil && begun != nil {
		_ = p.reap()
		err = begun
	}
	if err != nil {
		_, _, _ = isolated.End()
		return nil, err
	}
	p.isolated = isolated
	return p, nil
}

// launchOn starts cmd on its network, and with the umask of commands.
func (s *session) launchOn(cmd *exec.Cmd, c backend.Command, private bool) (p *process, err error) {
	if s.b.inside != nil {
		if p, err = s.b.inside.start(cmd); err != nil {
			return nil, &backend.ToolError{Tool: c.Argv[0], Err: err}
		}
		return p, nil
	}
	if private || ownUmask() != commandUmask {
		failed := onOwnThread(func() error {
			if private {
				if err := enterPrivateNetwork(); err != nil {
					return err
				}
			}
			if err := setUmask(); err != nil {
				return err
			}
			p, err = s.start(cmd)
			return nil
		})
		if failed != nil {
			return nil, fmt.Errorf("running %s: %w", c.Argv[0], failed)
		}
	} else {
		p, err = s.start(cmd)
	}
	if err != nil {
		return nil, &backend.ToolError{Tool: c.Argv[0], Err: err}
	}
	return p, nil
}

// start starts a process from cmd.
func (s *session) start(cmd *exec.Cmd) (p *process, err error) {
	err = isolation.WhenNotBusy(func() error {
		p, err = start(*cmd, s.mark)
		return err
	})
	return p, err
}

// end kills every process of the session. Exec ends the processes of each command, so a search is
// necessary only after that failed.
func (s *session) end() error {
	if !s.dirty {
		return nil
	}
	if s.b.inside != nil {
		s.b.inside.endAll()
		return nil
	}
	if err := endMarked(s.mark, s.since); err != nil {
		return err
	}
	s.dirty = false
	return nil
}
