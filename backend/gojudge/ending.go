package gojudge

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// errBusy is the result of a race in go-judge: a program that it has just written is still open for
// writing in a process that it forked meanwhile.
var errBusy = errors.New("text file busy")

// ending returns how a program ended, without its output. An error means that go-judge, or its machine,
// failed.
func ending(r *wireResult, p *backend.Program) (backend.Ending, error) {
	end := backend.Ending{
		CPU: time.Duration(r.Time), Clock: time.Duration(r.RunTime), Memory: r.Memory,
		Stderr: firstBytes(r.Files[stderrName], p.Limits.Stderr),
	}
	flooded, large, err := r.fileErrors()
	if err != nil {
		return end, err
	}
	// go-judge starts its measurement a moment after the clock of the limit.
	const moment = 50 * time.Millisecond
	cpu, clock := end.CPU > p.Limits.CPU, end.Clock >= p.Limits.Clock-moment
	switch r.Status {
	case statusAccepted, statusNonzero:
		end.Status, end.Code = backend.Exited, r.ExitStatus
	case statusSignalled, statusSyscall:
		end.Status, end.Signal = backend.Signalled, signalName(r.ExitStatus)
		switch {
		case r.Status == statusSyscall:
			end.Signal = signalName(sigSys)
		case r.ExitStatus == sigXFSZ:
			end.Status, end.Signal = backend.OutputLimit, ""
		// go-judge reports this status based on its own clock.
		case cpu && (r.ExitStatus == sigKill || r.ExitStatus == sigXCPU):
			end.Status, end.Signal = backend.CPULimit, ""
		case clock && r.ExitStatus == sigKill:
			end.Status, end.Signal = backend.ClockLimit, ""
		}
	case statusTime:
		end.Status = backend.ClockLimit
		if cpu {
			end.Status = backend.CPULimit
		}
	case statusMemory:
		end.Status = backend.MemoryLimit
	case statusOutput:
		end.Status = backend.OutputLimit
		if len(r.FileError) > 0 && !flooded {
			end.Status = backend.Exited // only of standard error, which is not a limit
		}
	case statusFile:
		if len(r.FileError) == 0 {
			return end, fmt.Errorf("%s: %s", r.Status, r.Error)
		}
		end.Status = backend.Exited
		if large {
			end.Status = backend.OutputLimit
		}
	default:
		return end, r.failure(p)
	}
	if flooded {
		// The program continues until it exits or reaches another limit.
		end.Status, end.Code, end.Signal = backend.OutputLimit, 0, ""
	}
	return end, nil
}

// fileErrors distinguishes too much output from errors that no program caused.
func (r *wireResult) fileErrors() (flooded, large bool, err error) {
	for _, e := range r.FileError {
		switch e.Type {
		case errCollectSize:
			flooded = flooded || e.Name == stdoutName
		case errCopyOutSize:
			large = true
		case errCopyOutOpen, errNotRegular: // omitted from Kept
		default:
			return false, false, exhaustion.Named(fmt.Errorf("%s: %s of %q: %s", r.Status, e.Type, e.Name, e.Message))
		}
	}
	return flooded, large, nil
}

// failure returns the error for a status about go-judge itself.
func (r *wireResult) failure(p *backend.Program) error {
	reason := r.Error
	if reason == "" {
		reason = "no details"
	}
	switch {
	case strings.HasSuffix(reason, errBusy.Error()):
		return fmt.Errorf("%s: %w", r.Status, errBusy)
	case r.Status == statusInternal && path.IsAbs(p.Argv[0]) && strings.HasSuffix(reason, "execve: no such file or directory"):
		return &backend.ToolError{Tool: p.Argv[0], Err: errors.New("not found in the sandbox"),
			Hint: "install it on the machine that go-judge runs on, or add it to go-judge's mount.yaml"}
	}
	return exhaustion.Named(fmt.Errorf("%s: %s", r.Status, reason))
}

func firstBytes(text string, limit int64) []byte {
	return []byte(text[:min(int64(len(text)), limit)])
}
