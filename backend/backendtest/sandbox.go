package backendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// SandboxOpener returns a sandbox that is ready to be used and the store that
// its files are in.
type SandboxOpener func(t *testing.T) (backend.Sandbox, cache.Store)

// TestSandbox runs the suite for sandboxes of the machine's own programs.
func TestSandbox(t *testing.T, open func(t *testing.T) (backend.Sandbox, cache.Store)) {
	TestSandboxFiles(t, open)
	t.Run("Limits", func(t *testing.T) { testLimits(t, open) })
	t.Run("Signals", func(t *testing.T) { testSignals(t, open) })
	t.Run("Walls", func(t *testing.T) { testWalls(t, open) })
	t.Run("Input", func(t *testing.T) { testInputStays(t, open) })
	t.Run("Kept", func(t *testing.T) { testKeptKinds(t, open) })
	t.Run("Missing", func(t *testing.T) { testMissing(t, open) })
}

// TestSandboxFiles runs the part of the suite that a sandbox without processes
// passes, too, with programs that Imitate plays.
func TestSandboxFiles(t *testing.T, open func(t *testing.T) (backend.Sandbox, cache.Store)) {
	t.Run("Identity", func(t *testing.T) { testSandboxIdentity(t, open) })
	t.Run("Output", func(t *testing.T) { testBytes(t, open) })
	t.Run("Large", func(t *testing.T) { testLarge(t, open) })
	t.Run("Files", func(t *testing.T) { testSandboxFiles(t, open) })
	t.Run("Flood", func(t *testing.T) { testFlood(t, open) })
	t.Run("Clock", func(t *testing.T) { testClock(t, open) })
	t.Run("Pair", func(t *testing.T) { testPair(t, open) })
	t.Run("Deadlock", func(t *testing.T) { testDeadlock(t, open) })
	t.Run("Cancel", func(t *testing.T) { testSandboxCancel(t, open) })
	t.Run("Parallel", func(t *testing.T) { testParallel(t, open) })
	t.Run("Mistakes", func(t *testing.T) { testMistakes(t, open) })
	t.Run("LostBlob", func(t *testing.T) { testLostBlob(t, open) })
}

const mib = 1 << 20

// script returns a program that the shell runs, with limits that it does not reach.
func script(text string) backend.Program {
	return backend.Program{
		Argv: []string{"/bin/sh", "-c", text}, Env: []string{"PATH=/usr/bin:/bin"},
		Limits: backend.Limits{CPU: prompt, Clock: 2 * prompt, Memory: 256 * mib, Processes: 32, Stdout: mib, Stderr: mib, Kept: mib},
	}
}

// box is a sandbox under test.
type box struct {
	t *testing.T
	backend.Sandbox
	store cache.Store
}

func openBox(t *testing.T, open SandboxOpener) *box {
	t.Helper()
	s, store := open(t)
	return &box{t, s, store}
}

// run runs programs that must not be broken.
func (b *box) run(programs ...backend.Program) []backend.Ending {
	b.t.Helper()
	ends, err := b.Run(b.t.Context(), programs...)
	if err != nil {
		b.t.Fatalf("running %q: %v", programs[0].Argv, err)
	}
	if len(ends) != len(programs) {
		b.t.Fatalf("%d endings of %d programs", len(ends), len(programs))
	}
	return ends
}

func (b *box) put(content string) cache.Digest {
	b.t.Helper()
	d, err := cache.PutBytes(b.t.Context(), b.store, []byte(content))
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b *box) text(d cache.Digest) string {
	b.t.Helper()
	content, err := cache.ReadBlob(b.t.Context(), b.store, d, -1)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(content)
}

func testSandboxIdentity(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	first, err := b.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Identity(t.Context())
	if err != nil || fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("got %v, then %v, %v", first, second, err)
	}
	if len(first) == 0 || first[0].Label != "platform" || first[0].Value == "" {
		t.Errorf("got %v", first)
	}
}

// Every byte of input and output arrives as it was.
func testBytes(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	for _, content := range []string{"", "text\n", "\x00\xff\xfeA\x00\r\n\xc3", strings.Repeat("\x80é", 50_000), "\ufffd"} {
		p := script(actCat)
		p.Stdin = b.put(content)
		end := b.run(p)[0]
		if got := b.text(end.Stdout); got != content || end.Status != backend.Exited || end.Code != 0 {
			t.Errorf("%d bytes came back as %d, %+v", len(content), len(got), end)
		}
	}
	end := b.run(script(actCat))[0]
	if end.Stdout != cache.SumBytes(nil) || end.Code != 0 {
		t.Errorf("without input: %+v", end)
	}
	end = b.run(script(actComplain))[0]
	if end.Code != 3 || string(end.Stderr) != "no: é\n" || b.text(end.Stdout) != "yes\n" || end.Signal != "" {
		t.Errorf("both outputs: %+v, %q", end, end.Stderr)
	}
	if end.Clock <= 0 {
		t.Errorf("no time passed: %+v", end)
	}
	p := script(actComplain)
	p.Limits.Stderr = 2
	if end = b.run(p)[0]; end.Status != backend.Exited || end.Code != 3 || string(end.Stderr) != "no" {
		t.Errorf("more standard error than is kept: %+v, %q", end, end.Stderr)
	}
	p = script(actGrumble)
	p.Limits.Stderr = 2
	if end = b.run(p)[0]; end.Status != backend.Exited || end.Code != 0 || string(end.Stderr) != "no" {
		t.Errorf("more standard error than is kept, and success: %+v, %q", end, end.Stderr)
	}
}

func testLarge(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	p := script(actCat)
	p.Stdin = b.put(strings.Repeat("0123456789abcde\n", 2*mib)) // 32 MiB
	p.Limits.Stdout = 32 * mib
	for range 2 {
		if end := b.run(p)[0]; end.Stdout != p.Stdin || end.Status != backend.Exited {
			t.Errorf("got %+v", end)
		}
	}
}

func testSandboxFiles(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	p := script(actCopy)
	p.Files = []backend.File{{Path: "in", Content: []byte("small\x00\xff")}, {Path: "dir/in", Digest: b.put("from the store")}, {Path: "big", Content: []byte(strings.Repeat("x", 200_000))}}
	p.Keep = []string{"missing", "dir/out", "out", "big"}
	end := b.run(p)[0]
	var kept []string
	for _, k := range end.Kept {
		kept = append(kept, k.Path)
	}
	if strings.Join(kept, " ") != "dir/out out big" || end.Status != backend.Exited || end.Code != 0 {
		t.Fatalf("kept %q, %+v", kept, end)
	}
	if got := b.text(end.Kept[0].Digest) + b.text(end.Kept[1].Digest); got != "from the storesmall\x00\xff" || end.Kept[2].Digest.Size != 200_000 {
		t.Errorf("kept %q", got)
	}
	p.Limits.Kept = 100_000
	if end = b.run(p)[0]; end.Status != backend.OutputLimit || len(end.Kept) != 2 {
		t.Errorf("a file over the limit: %+v", end)
	}
	// What one request left no other one sees.
	p = script(actCopy)
	p.Keep = []string{"in", "dir/out"}
	if end = b.run(p)[0]; len(end.Kept) != 0 || end.Code == 0 {
		t.Errorf("without files: %+v", end)
	}
	// A program of the store is run under its name.
	p = script("")
	p.Argv = []string{"tool"}
	p.Files = []backend.File{{Path: "tool", Digest: b.put("#!/bin/sh\n" + actComplain)}}
	if end = b.run(p)[0]; end.Code != 3 || b.text(end.Stdout) != "yes\n" {
		t.Errorf("a program of the store: %+v", end)
	}
}

// A program whose output is not read any more can be left to wait until its clock
// limit, which is therefore short where it is long enough.
func testFlood(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	p := script(actFlood)
	p.Limits.Stdout = 1000
	var end backend.Ending
	for _, p.Limits.Clock = range limits {
		if end = b.run(p)[0]; end.Stdout.Size > 0 {
			break
		}
	}
	if end.Status != backend.OutputLimit || b.text(end.Stdout) != strings.Repeat("y\n", 500) {
		t.Errorf("without end: %+v", end)
	}
	p = script(actCat)
	p.Stdin = b.put(strings.Repeat("x", 1001))
	p.Limits.Stdout = 1000
	if end = b.run(p)[0]; end.Status != backend.OutputLimit || end.Stdout.Size != 1000 {
		t.Errorf("one byte more: %+v", end)
	}
	p.Limits.Stdout = 1001
	if end = b.run(p)[0]; end.Status != backend.Exited || end.Stdout != p.Stdin {
		t.Errorf("just as much: %+v", end)
	}
}

func testClock(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	p := script(actSleep)
	var end backend.Ending
	for _, p.Limits.Clock = range limits {
		if end = b.run(p)[0]; end.Stdout.Size > 0 {
			break
		}
	}
	if end.Status != backend.ClockLimit || end.Clock < p.Limits.Clock*9/10 || end.CPU > p.Limits.Clock/2 || b.text(end.Stdout) != "before\n" {
		t.Errorf("got %+v", end)
	}
}

// Two programs talk to each other; the end of either is the end of the talk.
func testPair(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	ask, answer := script(actAsk), script(actAnswer)
	ask.StdinFrom, answer.StdinFrom = 2, 1
	ends := b.run(ask, answer)
	if string(ends[0].Stderr) != "got answer to question\n" || ends[0].Code != 7 || ends[1].Status != backend.Exited || ends[1].Code != 0 {
		t.Errorf("got %+v, %q", ends, ends[0].Stderr)
	}
	if !ends[0].Stdout.IsZero() || !ends[1].Stdout.IsZero() {
		t.Errorf("what went to the other program was kept: %+v", ends)
	}
	// The first only listens, so that its output is kept.
	hear, say := script(actCat), script(actComplain)
	hear.StdinFrom = 2
	if ends = b.run(hear, say); b.text(ends[0].Stdout) != "yes\n" || ends[1].Code != 3 {
		t.Errorf("one way: %+v", ends)
	}
	// One ends before the other has said a word.
	ask.StdinFrom, answer = 2, script(actNothing)
	answer.StdinFrom = 1
	if ends = b.run(ask, answer); ends[1].Code != 0 || ends[1].Status != backend.Exited || ends[0].Status == backend.ClockLimit || ends[0].Code == 7 {
		t.Errorf("early end: %+v", ends)
	}
}

func testDeadlock(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	first, second := script(actAnswer), script(actAnswer)
	first.StdinFrom, second.StdinFrom = 2, 1
	first.Limits.Clock = time.Second
	start := time.Now()
	ends := b.run(first, second)
	elapsed(start, t)
	if ends[0].Status != backend.ClockLimit || ends[1].Status == backend.ClockLimit {
		t.Errorf("got %+v", ends)
	}
}

func testSandboxCancel(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(stop) })
	start := time.Now()
	p := script(actSleep)
	p.Limits.Clock = 10 * prompt
	if ends, err := b.Run(ctx, p); !errors.Is(err, stop) {
		t.Errorf("got %+v, %v", ends, err)
	}
	elapsed(start, t)
	if end := b.run(script(actComplain))[0]; end.Code != 3 {
		t.Errorf("afterwards: %+v", end)
	}
}

// Requests at the same time do not mix their files or outputs.
func testParallel(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	var wait sync.WaitGroup
	shared := b.put("shared")
	for i := range 16 {
		wait.Go(func() {
			for j := range 4 {
				content := fmt.Sprintf("%d %d", i, j)
				p := script(actCopy)
				p.Files = []backend.File{{Path: "in", Content: []byte(content)}, {Path: "dir/in", Digest: shared}}
				p.Keep = []string{"out", "dir/out"}
				ends, err := b.Run(t.Context(), p)
				if err != nil || len(ends[0].Kept) != 2 || ends[0].Kept[0].Digest != cache.SumBytes([]byte(content)) || ends[0].Kept[1].Digest != shared {
					t.Errorf("request %s: %+v, %v", content, ends, err)
				}
			}
		})
	}
	wait.Wait()
}

// Requests that make no sense are errors.
func testMistakes(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	unnamed, outside, absolute, other, lonely := script(actCat), script(actCat), script(actCat), script(actCat), script(actCat)
	unnamed.Argv = nil
	outside.Files = []backend.File{{Path: "../x"}}
	absolute.Files = []backend.File{{Path: "/x"}}
	other.Argv = []string{"a.out"}
	lonely.StdinFrom = 2
	for name, p := range map[string]backend.Program{"no program": unnamed, "outside": outside, "absolute": absolute, "no file": other, "lonely": lonely} {
		if ends, err := b.Run(t.Context(), p); err == nil {
			t.Errorf("%s: %+v", name, ends)
		}
	}
}

// A blob that is not in the store is reported as such, so that it can be made again.
func testLostBlob(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	for _, place := range []string{"file", "input"} {
		p := script(actCat)
		absent := cache.SumBytes([]byte("in no store, as " + place))
		if place == "file" {
			p.Files = []backend.File{{Path: "x", Digest: absent}}
		} else {
			p.Stdin = absent
		}
		_, err := b.Run(t.Context(), p)
		var missing *cache.MissingError
		if !errors.As(err, &missing) || missing.Digest != absent {
			t.Errorf("%s: %v", place, err)
		}
	}
}
