package isolation

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
)

// Try creates a view as Command would, without starting a program in it. The error
// explains why this machine does not allow that.
func Try(by *Program, level Level, view View) error {
	if level == None {
		return nil
	}
	_, err := try(by, level, view)
	return err
}

// Crowded returns an error as Process.Crowded does, for a program at level Full that would end now.
func Crowded(by *Program, view View) error {
	p, err := try(by, Full, view)
	if err != nil {
		return err
	}
	return p.Crowded()
}

func try(by *Program, level Level, view View) (*Process, error) {
	cmd := &exec.Cmd{}
	p, err := Command(cmd, by, level, view)
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	failed := cmd.Start()
	begun := p.Begin(failed == nil)
	if failed == nil {
		failed = cmd.Wait()
	}
	_, ok, err := p.End()
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, fmt.Errorf("isolating a program: %w: %s", failed, bytes.TrimSpace(said.Bytes()))
	case begun == nil && !ok:
		return nil, errors.New("isolating a program: the process ended without a report")
	}
	return p, begun
}
