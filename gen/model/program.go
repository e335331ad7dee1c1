package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/procgroup"
)

// Program implements Model. It takes no API key: its environment contains what it needs.
type Program struct {
	Argv    []string
	Dir     string        // that it starts in
	Env     []string      // NAME=VALUE; it has no other variables
	Timeout time.Duration // 0 means no limit
	Redact  func(string) string
}

// shownStderr bounds the part of the program's standard error in an error.
const shownStderr = 2 << 10

// Ask implements Model. A program cannot report that another attempt is useless: every failure is retried.
func (p *Program) Ask(ctx context.Context, _ string, q Question) (Answer, error) {
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, fmt.Errorf("no answer within %v", p.Timeout))
		defer cancel()
	}
	prompt := q.Prompt
	if q.System != "" {
		prompt = q.System + "\n\n" + prompt
	}
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, strings.NewReader(prompt)
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	said := capped.Buffer{Tail: shownStderr}
	answer := &limited{}
	cmd.Stdout, cmd.Stderr = answer, &said
	cmd.WaitDelay = time.Second // of its leftover processes
	procgroup.Set(cmd)
	err := cmd.Run()
	switch {
	case context.Cause(ctx) != nil:
		return Answer{}, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return Answer{}, &WrongError{Reason: err.Error(), Hint: "check the command of the generator"}
	case answer.over:
		return Answer{Finish: "length"}, nil
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		why := fmt.Sprintf("%s: %v", p.Argv[0], err)
		if text := strings.Join(strings.Fields(p.Redact(string(said.Bytes()))), " "); text != "" {
			why += ": " + text
		}
		return Answer{}, errors.New(why)
	}
	return Answer{Text: p.Redact(answer.text.String()), Finish: "stop"}, nil
}

// limited keeps the beginning of a model's output. The rest is drained, and noted.
type limited struct {
	text bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > MaxAnswer {
		l.over = true
		return len(p), nil
	}
	return l.text.Write(p)
}
