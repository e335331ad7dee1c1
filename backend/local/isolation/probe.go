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
	cmd := &exec.Cmd{}
	p, err := Command(cmd, by, level, view)
	if err != nil {
		return err
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
		return err
	case failed != nil:
		return fmt.Errorf("isolating a program: %w: %s", failed, bytes.TrimSpace(said.Bytes()))
	case begun == nil && !ok:
		return errors.New("isolating a program: the process ended without a report")
	}
	return begun
}
