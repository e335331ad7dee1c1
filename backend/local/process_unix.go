//go:build unix && !linux

package local

import (
	"errors"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// process is the main process of a running command. Without /proc only the
// command's own process group is ended.
type process struct {
	cmd   *exec.Cmd
	ended *os.File // can be read once it has ended
	err   chan error
	// isolated is nil: only Linux isolates.
	isolated *isolation.Process
}

func start(cmd exec.Cmd, _ mark) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: &cmd, err: make(chan error, 1)}
	var err error
	if p.ended, err = endOf(func() { p.err <- p.cmd.Wait() }); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return p, nil
}

func (p *process) signalGroup(sig unix.Signal) { _ = unix.Kill(-p.cmd.Process.Pid, sig) }

func (p *process) reap() error {
	p.signalGroup(unix.SIGKILL)
	defer p.ended.Close()
	return <-p.err
}

func endMarked(mark, since) error { return nil }

// since is unused: this system does not search for processes.
type since struct {
	pid   int
	forks uint64
}

// isStopped returns false: it would need /proc.
func (p *process) isStopped() bool { return false }

// count is unused without /proc.
type count struct{}

func (*count) recent() uint64 { return 0 }

var forks count

// Attributes that commands inherit are left unchanged.
const commandUmask = 0

func ownUmask() int             { return commandUmask }
func setUmask() error           { return nil }
func ignoresSetuid(string) bool { return false }

// kernelCounts is unused without control groups.
type kernelCounts struct{}

func countsBefore() kernelCounts   { return kernelCounts{} }
func (kernelCounts) verify() error { return nil }

func (*inside) begin(*session, bool) error        { return nil }
func (*inside) start(*exec.Cmd) (*process, error) { return nil, errors.ErrUnsupported }
func (*inside) reapOrphans(*process)              {}
func (*inside) endAll()                           {}
func (*inside) outOfMemory() bool                 { return false }
