package backendtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// hog returns a shell script that takes more memory than n bytes.
func hog(n int) string {
	return fmt.Sprintf(`exec awk 'BEGIN { s = "x"; while (length(s) < %d) s = s s; print length(s) }'`, n)
}

func testLimits(t *testing.T, open SandboxOpener) {
	for _, test := range []struct {
		name   string
		script string
		limit  func(*backend.Limits)
		want   backend.EndingStatus
	}{
		{"processor", "while :; do :; done", func(l *backend.Limits) { l.CPU = time.Second }, backend.CPULimit},
		{"processor of children", "while :; do :; done & while :; do :; done & wait", func(l *backend.Limits) { l.CPU = time.Second }, backend.CPULimit},
		{"children that sleep", "sleep 1000 & sleep 1000 & wait", func(l *backend.Limits) { l.Clock = time.Second }, backend.ClockLimit},
		{"ignores signals", "trap '' TERM INT HUP; while :; do sleep 1; done", func(l *backend.Limits) { l.Clock = time.Second }, backend.ClockLimit},
		{"memory", hog(4 << 30), func(*backend.Limits) {}, backend.MemoryLimit},
		{"file", "exec cat /dev/zero > f", func(l *backend.Limits) { l.Memory = 64 * mib }, backend.MemoryLimit},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := openBox(t, open)
			p := script(test.script)
			test.limit(&p.Limits)
			start := time.Now()
			end := b.run(p)[0]
			elapsed(start, t)
			if end.Status != test.want {
				t.Errorf("got %+v, %q; want %s", end, end.Stderr, test.want)
			}
			if end.Status == backend.MemoryLimit && end.Memory < p.Limits.Memory {
				t.Errorf("%d bytes are no more than %d", end.Memory, p.Limits.Memory)
			}
			if end.Status == backend.CPULimit && end.CPU < p.Limits.CPU {
				t.Errorf("%v are no more than %v", end.CPU, p.Limits.CPU)
			}
		})
	}
	b := openBox(t, open)
	p := script(`i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; echo all`)
	p.Limits.Processes = 8
	if end := b.run(p)[0]; b.text(end.Stdout) != "" || end.Status != backend.Exited || end.Code == 0 {
		t.Errorf("40 processes of 8: %+v, %q", end, end.Stderr)
	}
	p = script(hog(4 << 30))
	p.Limits.AddressSpace = true
	if end := b.run(p)[0]; end.Status == backend.MemoryLimit || end.Status == backend.Exited && end.Code == 0 {
		t.Errorf("an address space that is too small: %+v", end)
	}
}

func testSignals(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	for signal, want := range map[string]string{"SEGV": "segmentation fault", "KILL": "killed", "FPE": "floating point exception", "BUS": "bus error", "PIPE": "broken pipe"} {
		end := b.run(script("echo out; kill -" + signal + " $$"))[0]
		if end.Status != backend.Signalled || end.Signal != want || b.text(end.Stdout) != "out\n" {
			t.Errorf("SIG%s: %+v", signal, end)
		}
	}
}

// testWalls tests the limits of what programs see and do.
func testWalls(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	for what, text := range map[string]string{
		"the machine's files": `ls /home /root /etc/shadow /var 2>/dev/null | grep . && exit 1; exit 0`,
		"write to programs":   `touch /usr/bin/x /bin/x 2>/dev/null && exit 1; exit 0`,
		"other processes":     `[ $(ls -d /proc/[0-9]* | wc -l) -lt 8 ]`,
		"a network":           `[ $(grep -c : /proc/net/dev) -le 1 ]`,
		"environment":         `[ "$(env | grep -v '^PWD=' | grep -v '^_=' | grep -v '^SHLVL=' | wc -l)" = 1 ]`,
	} {
		if end := b.run(script(text))[0]; end.Status != backend.Exited || end.Code != 0 {
			t.Errorf("%s: %+v, %q, %q", what, end, b.text(end.Stdout), end.Stderr)
		}
	}
}

// testInputStays tests programs that change their own input: the next program must get the content of the
// store.
func testInputStays(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	for _, content := range []string{"input\n", "\xff" + strings.Repeat("input\n", 100_000)} {
		p := script(`chmod 777 /proc/self/fd/0; echo evil > /proc/self/fd/0; echo evil > f; true`)
		p.Stdin = b.put(content)
		p.Files = []backend.File{{Path: "f", Digest: p.Stdin}}
		b.run(p)
		p = script("cat f; cat")
		p.Limits.Stdout = 4 * mib
		p.Stdin = b.put(content)
		p.Files = []backend.File{{Path: "f", Digest: p.Stdin}}
		if end := b.run(p)[0]; b.text(end.Stdout) != content+content {
			t.Errorf("a program changed the input of the next: %+v", end)
		}
	}
}

// testKeptKinds tests paths to keep that are not regular files.
func testKeptKinds(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	p := script(`mkdir d; ln -s f l; ln -s /etc/passwd p; ln -s missing m; mkfifo q 2>/dev/null; echo f > f; touch locked; chmod 000 locked; echo e > -e`)
	p.Keep = []string{"d", "l", "p", "m", "q", "f", "locked", "-e"}
	start := time.Now()
	end := b.run(p)[0]
	elapsed(start, t)
	kept := map[string]bool{}
	for _, k := range end.Kept {
		kept[k.Path] = true
	}
	if end.Status != backend.Exited || end.Code != 0 || !kept["f"] || !kept["-e"] || kept["d"] || kept["l"] || kept["p"] || kept["m"] || kept["q"] {
		t.Errorf("kept %v, %+v", kept, end)
	}
}

// A program that cannot be started is not a verdict.
func testMissing(t *testing.T, open SandboxOpener) {
	b := openBox(t, open)
	p := script("")
	p.Argv = []string{"/usr/bin/there-is-no-such-compiler"}
	ends, err := b.Run(t.Context(), p)
	var tool *backend.ToolError
	if !errors.As(err, &tool) || tool.Tool != p.Argv[0] {
		t.Errorf("got %+v, %v", ends, err)
	}
	p.Argv = []string{"a.out"}
	p.Files = []backend.File{{Path: "a.out", Content: []byte("no program")}}
	if ends, err := b.Run(t.Context(), p); err == nil {
		t.Errorf("no program: %+v", ends)
	}
}
