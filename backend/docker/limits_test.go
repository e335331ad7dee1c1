package docker_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
)

// guard limits what must end soon, on a busy machine.
const guard = 3 * time.Minute

// hungry takes 300 MiB.
const hungry = `python3 -c 'x = bytearray(300 << 20); print(len(x))'`

func TestMemory(t *testing.T) {
	d := daemon(t)
	b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Network: "none"}, Limits: docker.Limits{Memory: 64 << 20}})(t)
	s := open(t, b, backend.Spec{})
	for _, test := range []struct {
		script string
		want   backend.Exit
	}{
		{"exec " + hungry, backend.Exit{Code: -1, Signal: "killed", OOM: true, OOMLimit: 64 << 20}},
		{"exit 3", backend.Exit{Code: 3}}, // the one before is forgotten
		{hungry + "; exit 5", backend.Exit{Code: 5, OOM: true, OOMLimit: 64 << 20}},
	} {
		exit, err := s.Exec(t.Context(), sh(test.script))
		exit.Seconds = 0
		if err != nil || exit != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", test.script, exit, err, test.want)
		}
	}
	// A program cannot end the process that waits for it.
	hurt := sh("for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done; kill -KILL $PPID 2>/dev/null; exit 7")
	hurt.Timeout = guard
	if exit, err := s.Exec(t.Context(), hurt); err != nil || exit.Code != 7 || exit.OOM {
		t.Errorf("a program that signals its parent: %+v, %v", exit, err)
	}
	free, _ := opener(d, docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Network: "none"}, Limits: docker.Limits{Memory: 512 << 20}})(t)
	if got := output(t, open(t, free, backend.Spec{}), sh(hungry)); got != "314572800" {
		t.Errorf("with room: %q", got)
	}
}

// A program that forks endlessly neither fills the machine nor outlives its limit. The shell that waits for the
// limit forks once, while it still can: if it cannot fork, it ends by itself.
func TestForkBomb(t *testing.T) {
	b, _ := opener(daemon(t), docker.Options{Origin: docker.Origin{Image: pythonImage}, Reach: docker.Reach{Network: "none"}, Limits: docker.Limits{Pids: 50}})(t)
	s := open(t, b, backend.Spec{})
	cmd := sh(`bomb() { bomb | bomb & }; bomb & while :; do :; done`)
	cmd.Timeout = time.Second
	began := time.Now()
	exit, err := s.Exec(t.Context(), cmd)
	if err != nil || !exit.TimedOut || time.Since(began) > guard {
		t.Errorf("got %+v, %v after %v", exit, err, time.Since(began))
	}
	if got := output(t, s, sh("ls -d /proc/[0-9]* | wc -l")); len(got) > 1 {
		t.Errorf("%s processes are left", got)
	}
}

// The user, capabilities and limits of a program.
func TestPrivileges(t *testing.T) {
	d := daemon(t)
	const show = `id -u; id -g; grep -e CapEff -e CapBnd -e NoNewPrivs /proc/self/status | tr -d '\t'; grep -c . /proc/net/route; hostname`
	for _, test := range []struct {
		name string
		o    docker.Options
		want string
	}{
		{"defaults", docker.Options{}, "1000 1000 CapBnd:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 1 fevalgraph"},
		{"network", docker.Options{Reach: docker.Reach{Network: "bridge"}}, "1000 1000 CapBnd:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 3 fevalgraph"},
		{"number", docker.Options{Privileges: docker.Privileges{User: "4321:8765"}, Reach: docker.Reach{Network: "none"}}, "4321 8765 CapBnd:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 1 fevalgraph"},
		{"name", docker.Options{Privileges: docker.Privileges{User: "nobody"}, Reach: docker.Reach{Network: "none"}}, "65534 65534 CapBnd:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 1 fevalgraph"},
		{"root", docker.Options{Privileges: docker.Privileges{User: "root"}, Reach: docker.Reach{Network: "none"}}, "0 0 CapBnd:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 1 fevalgraph"},
	} {
		for _, byCopy := range []bool{false, true} {
			test.o.Image, test.o.Copy = baseImage, byCopy
			b, _ := opener(d, test.o)(t)
			s := open(t, b, backend.Spec{Inputs: []backend.Input{{Path: "d/f", Content: []byte("x")}}})
			// Everything of the workspace is the program's own.
			const use = `echo more >> d/f && rm d/f && rmdir d && echo x > g && chmod 700 . "$HOME" "$TMPDIR" && ! touch /etc/passwd /bin/new 2>/dev/null || [ $(id -u) = 0 ]`
			got := strings.Fields(output(t, s, sh(show+"; "+use)))
			if len(got) == 7 && got[2] > got[3] { // the kernel's order
				got[2], got[3] = got[3], got[2]
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s, copied %v: got %q, want %q", test.name, byCopy, strings.Join(got, " "), test.want)
			}
		}
	}
}

func TestOnline(t *testing.T) {
	d := daemon(t)
	for _, byCopy := range []bool{false, true} {
		b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "none"}, Copy: byCopy})(t)
		s := open(t, b, backend.Spec{})
		for i, online := range []bool{false, true, true, false, true, false} {
			cmd := sh("grep -c eth0 /proc/net/dev; true")
			cmd.Online = online
			if got := output(t, s, cmd); got != map[bool]string{true: "1", false: "0"}[online] {
				t.Errorf("command %d: online %v, but has %s networks", i, online, got)
			}
		}
	}
}

// Files that a program leaves outside of its workspace are removed with its session.
func TestOutside(t *testing.T) {
	b, _ := opener(daemon(t), docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "none"}})(t)
	s := open(t, b, backend.Spec{})
	output(t, s, sh("echo x > /tmp/f && echo x > /dev/shm/f"))
	if got := output(t, s, sh("ls /tmp")); got != "f" {
		t.Errorf("the session's next command sees %q", got)
	}
	if got := output(t, open(t, b, backend.Spec{}), sh("ls /tmp /dev/shm")); strings.Contains(got, "f\n") {
		t.Errorf("another session sees %q", got)
	}
}

func TestMounts(t *testing.T) {
	dir := t.TempDir()
	b, _ := opener(daemon(t), docker.Options{
		Origin:     docker.Origin{Image: baseImage},
		Reach:      docker.Reach{Network: "none"},
		Privileges: docker.Privileges{User: "root"},
		Mounts: []docker.Mount{
			{Source: dir, Target: "/in", ReadOnly: true}, {Source: dir, Target: "/out"},
		},
	})(t)
	s := open(t, b, backend.Spec{})
	if got := output(t, s, sh("! touch /in/f 2>/dev/null && echo x > /out/f && cat /in/f")); got != "x" {
		t.Errorf("got %q", got)
	}
}

// Each impossible option is reported with its own message, and never as an exit of the program.
func TestCannotBe(t *testing.T) {
	d := daemon(t)
	for _, test := range []struct {
		name string
		o    docker.Options
		want string
	}{
		{"no image", docker.Options{Origin: docker.Origin{Image: "fevalgraph-test/absent", Pull: docker.PullNever}}, "fevalgraph-test/absent: the daemon has no such image (hint: build or pull it; it is not fetched here, because pull is never)"},
		{"no registry", docker.Options{Origin: docker.Origin{Image: "127.0.0.1:1/absent"}}, "127.0.0.1:1/absent: the image could not be pulled: "},
		{"no name", docker.Options{}, "no image is named"},
		{"bad name", docker.Options{Origin: docker.Origin{Image: "Not An Image", Pull: docker.PullNever}}, "invalid reference format"},
		{"user", docker.Options{Origin: docker.Origin{Image: baseImage}, Privileges: docker.Privileges{User: "stranger"}}, "user: the image does not know it: "},
		{"mount", docker.Options{Origin: docker.Origin{Image: baseImage}, Mounts: []docker.Mount{{Source: "/no/such/place", Target: "/x"}}}, "mount: nothing to mount on the machine of the daemon: "},
		{"mount without a target", docker.Options{Origin: docker.Origin{Image: baseImage}, Mounts: []docker.Mount{{Source: "/tmp", Target: "x"}}}, `mount of "/tmp" at "x"`},
		{"little memory", docker.Options{Origin: docker.Origin{Image: baseImage}, Limits: docker.Limits{Memory: 1 << 20}}, "Minimum memory limit allowed is 6MB (hint: raise it"},
		{"many cpus", docker.Options{Origin: docker.Origin{Image: baseImage}, Limits: docker.Limits{CPUs: 10000}}, "cpus: Error response from daemon: Range of CPUs"},
		{"network", docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "no-such-network"}}, "no-such-network"},
		{"network of the host", docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "host"}}, `network "host": commands need a separate network`},
		{"workdir", docker.Options{Origin: docker.Origin{Image: baseImage}, Workdir: "work"}, `workdir "work": want an absolute path`},
		{"gpus", docker.Options{Origin: docker.Origin{Image: baseImage}, Limits: docker.Limits{GPUs: "some"}}, `gpus "some": want all, a number, or device= and a list`},
	} {
		b, _ := opener(d, test.o)(t)
		s, err := b.Open(t.Context(), backend.Spec{})
		if err == nil {
			var exit backend.Exit
			exit, err = s.Exec(t.Context(), sh("exit 0"))
			if err == nil {
				t.Errorf("%s: %+v", test.name, exit)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Errorf("%s: closing: %v", test.name, err)
			}
		}
		if err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
	b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Limits: docker.Limits{GPUs: "all"}})(t)
	s, err := b.Open(t.Context(), backend.Spec{})
	if err == nil {
		_, err = s.Exec(t.Context(), sh("true"))
		s.Close(t.Context())
	}
	if gpu := (*backend.AbsentError)(nil); !errors.As(err, &gpu) || !strings.HasPrefix(gpu.Error(), "no such GPU here: ") {
		t.Errorf("without a GPU: %v", err)
	}
}

// A limit ends the container and everything in it soon.
func TestLimitIsPrompt(t *testing.T) {
	b, _ := opener(daemon(t), docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "none"}, Lifecycle: docker.Lifecycle{Grace: docker.DefaultGrace}})(t)
	s := open(t, b, backend.Spec{})
	var out bytes.Buffer
	cmd := sh(`trap '' TERM; echo result > f; echo ready; while :; do sleep 1; done`)
	cmd.Output = &out
	var exit backend.Exit
	var err error
	// Try longer limits until the program is ready before its time is up.
	for cmd.Timeout = time.Second; cmd.Timeout < guard && err == nil && out.Len() == 0; cmd.Timeout *= 5 {
		exit, err = s.Exec(t.Context(), cmd)
	}
	cmd.Timeout /= 5
	if err != nil || !exit.TimedOut || exit.Signal != "killed" || out.String() != "ready\n" {
		t.Errorf("got %+v, %v, %q", exit, err, out.String())
	}
	if over := exit.Seconds - cmd.Timeout.Seconds(); over > guard.Seconds() {
		t.Errorf("it ended %.1f seconds after its limit", over)
	}
	r, err := s.Collect(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := out.ReadFrom(r); err != nil || !strings.HasSuffix(out.String(), "result\n") {
		t.Errorf("collected %q, %v", out.String(), err)
	}
}
