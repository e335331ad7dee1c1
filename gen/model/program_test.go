//go:build unix

package model

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

func shell(script string) *Program {
	return &Program{Argv: []string{"/bin/sh", "-c", script}, Env: []string{"WHO=me", "PATH=/bin:/usr/bin"}, Timeout: time.Minute,
		Redact: func(s string) string { return strings.ReplaceAll(s, "hush", "***") }}
}

func TestAsk(t *testing.T) {
	t.Setenv("FEVALGRAPH_OF_THE_CALLER", "seen")
	a, err := shell(`echo "$WHO$FEVALGRAPH_OF_THE_CALLER hush"; cat`).Ask(t.Context(), "", Question{System: "brief", Prompt: "what?"})
	if err != nil || a.Text != "me ***\nbrief\n\nwhat?" || a.Finish != "stop" {
		t.Errorf("%+v, %v", a, err)
	}
	// A program that does not read its prompt can answer, too.
	if a, err := shell("echo done").Ask(t.Context(), "", Question{Prompt: strings.Repeat("x", 1<<20)}); err != nil || a.Text != "done\n" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestFailures(t *testing.T) {
	if _, err := shell("echo no hush today >&2; exit 3").Ask(t.Context(), "", Question{}); err == nil || err.Error() != "/bin/sh: exit status 3: no *** today" {
		t.Error(err)
	}
	var wrong *WrongError
	for _, name := range []string{"no-such-program-at-all", "/no/such/program", t.TempDir()} {
		if _, err := (&Program{Argv: []string{name}}).Ask(t.Context(), "", Question{}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a, err := shell("head -c 17000000 /dev/zero").Ask(t.Context(), "", Question{}); err != nil || a.Finish != "length" || a.Text != "" {
		t.Errorf("%d bytes, %s, %v", len(a.Text), a.Finish, err)
	}
	slow := shell("exec sleep 600")
	slow.Timeout = 20 * time.Millisecond
	if _, err := slow.Ask(t.Context(), "", Question{}); err == nil || err.Error() != "no answer within 20ms" {
		t.Error(err)
	}
}

// Children of a program end with it.
func TestProgramInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	started := filepath.Join(dir, "pid")
	failed := make(chan error)
	go func() {
		_, err := shell("sleep 600 & echo $! >"+started+".new; mv "+started+".new "+started+"; wait").Ask(ctx, "", Question{})
		failed <- err
	}()
	var pid []byte
	await.Until(t, "the program has started", func() (there bool) {
		var err error
		pid, err = os.ReadFile(started)
		return err == nil
	})
	cancel(why)
	if err := <-failed; !errors.Is(err, why) {
		t.Error(err)
	}
	await.Until(t, "what it started is gone", func() bool {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}
