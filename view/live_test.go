package view

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/vbauerster/mpb/v8"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

func TestLiveLeavesTroubleAbove(t *testing.T) {
	clock, out := newClock(), &page{}
	v := newLiveView(Options{Err: out, Now: clock.now, Width: 100})
	play(v, clock, eventfulRun())
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	v.Close() // idempotent
	v.Emit(ended("late", event.Broken, 0, "", "after the end"))
	got := out.String()
	for _, want := range []string{
		"retry       kvstore/c/pytest  attempt 1 broke, next in 30.0s: connection refused\\nby peer\n",
		"TIMEOUT     kvstore/b/pytest  3.2s  (never ran)\n    session limit of 3s\n",
		"BROKEN      kvstore/c/pytest",
		"FAILED      kvstore/d/pytest",
		"… 8 more lines, see: fevalgraph log 'kvstore/d/pytest'",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%d times %q in\n%s", strings.Count(got, want), want, got)
		}
	}
	for _, not := range []string{"BLOCKED", "tests/0", "late", "\x1b[31m"} {
		if strings.Contains(got, not) {
			t.Errorf("%q in\n%s", not, got)
		}
	}
}

// On a real terminal, the bar and the running nodes are drawn, and after Close only the lines above them remain on the
// screen.
func TestLiveOnATerminal(t *testing.T) {
	primary, secondary, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	defer primary.Close()
	if err := pty.Setsize(primary, &pty.Winsize{Rows: 10, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	screen := &page{}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.Copy(screen, primary) // ends in EIO when the other side closes
	}()

	clock := newClock()
	if v := New(Auto, Options{Out: io.Discard, Err: secondary}); !isLive(v) {
		t.Errorf("auto on a terminal is %T", v)
	}
	v := newLiveView(Options{Err: secondary, Now: clock.now, Color: true})
	v.options = append(v.options, mpb.WithRefreshRate(5*time.Millisecond))
	v.Emit(event.RunStart{Nodes: 30})
	for i := range 10 {
		v.Emit(started(fmt.Sprintf("node-%02d-%s", i, strings.Repeat("x", 100))))
	}
	await.Until(t, "the bar is drawn", func() bool { return strings.Contains(screen.String(), "0/30  [") })
	io.WriteString(v, "locking\n")
	clock.pass(75 * time.Second)
	v.Emit(ended("gone", event.Broken, 0, "", "boom"))
	for _, want := range []string{"1/30  [", "ran 1, cached 0", "1m15s", "node-00-", "… 4 others"} {
		await.Until(t, fmt.Sprintf("the screen shows %q", want), func() bool { return strings.Contains(screen.String(), want) })
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	secondary.Close()
	<-drained
	raw := screen.String()
	if left := renderScreen(raw); strings.Join(strings.Fields(left), " ") != "locking BROKEN gone 0s boom" {
		t.Errorf("left on the screen:\n%s\nfrom %.3000q", left, raw)
	}
	if strings.Contains(raw, "\x1b[?") {
		t.Errorf("a terminal mode was changed: %.3000q", raw)
	}
}

// openTerminal returns the program's side of a pseudo-terminal.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	primary, secondary, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	t.Cleanup(func() { secondary.Close(); primary.Close() })
	return secondary
}

func isLive(v View) bool {
	defer v.Close()
	_, live := v.(*liveView)
	return live
}

// renderScreen plays the few control sequences that the live view uses: lines,
// cursor up, erase below, colour.
func renderScreen(raw string) string {
	lines, row := []string{""}, 0
	for raw != "" {
		switch {
		case raw[0] == '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
			raw = raw[1:]
		case raw[0] == '\r':
			raw = raw[1:]
		case strings.HasPrefix(raw, "\x1b["):
			end := strings.IndexFunc(raw[2:], func(r rune) bool { return r >= '@' }) + 2
			n := 0
			fmt.Sscanf(raw[2:end], "%d", &n)
			switch raw[end] {
			case 'A':
				row = max(row-n, 0)
			case 'J':
				lines = append(lines[:row:row], "")
			}
			raw = raw[end+1:]
		default:
			lines[row] += raw[:1]
			raw = raw[1:]
		}
	}
	return strings.Join(lines, "\n")
}

func TestUnattended(t *testing.T) {
	for env, want := range map[string]bool{"": false, "CI=true": true, "CI=false": false, "CI=0": false, "TERM=dumb": true, "TERM=xterm": false} {
		key, value, _ := strings.Cut(env, "=")
		lookup := func(name string) (string, bool) {
			if name != key {
				return "", false
			}
			return value, true
		}
		if got := unattended(lookup); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
}
