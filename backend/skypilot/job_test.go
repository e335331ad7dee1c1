//go:build unix

package skypilot_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/skypilot"
	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// TestMain is also the program of clusters: jobs call it with the word "worker".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := work(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(backendtest.Main(m))
}

func work(args []string) error {
	o := workerhost.Options{LookupEnv: os.LookupEnv}
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.StringVar(&o.Dir, "dir", "", "")
	flags.StringVar(&o.Listen, "listen", "", "")
	flags.DurationVar(&o.Idle, "idle", 0, "")
	flags.StringVar(&o.Isolation, "isolation", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return workerhost.Run(context.Background(), o, func(workerhost.Address) {})
}

// jobs is a provider that runs the jobs of clusters on this machine.
type jobs struct {
	*site
	mu   sync.Mutex
	jobs map[string]*exec.Cmd
	done map[string]chan struct{}
}

func (j *jobs) Ready(context.Context) error { return nil }

func (j *jobs) Launch(_ context.Context, cluster string, task skypilot.Task) error {
	cmd := exec.Command("/bin/sh", "-c", task.Run)
	cmd.Env = []string{"PATH=" + j.path + ":" + backendtest.Path, "HOME=" + j.t.TempDir(), "SKYPILOT_NODE_IPS=127.0.0.1\n127.0.0.2", "TMPDIR=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd.Wait() // it is ended by a signal
	}()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.jobs[cluster], j.done[cluster] = cmd, done
	return nil
}

func (j *jobs) State(_ context.Context, cluster string) (skypilot.State, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.jobs[cluster] == nil {
		return skypilot.Gone, nil
	}
	return skypilot.Up, nil
}

func (j *jobs) End(_ context.Context, cluster string) error {
	j.mu.Lock()
	cmd, done := j.jobs[cluster], j.done[cluster]
	delete(j.jobs, cluster)
	j.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	<-done
	return nil
}

func (j *jobs) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

// TestJob runs a command through the job that clusters run, in a real worker.
func TestJob(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	s := newSite(t)
	p := newProject(t, s)
	provider := &jobs{site: s, jobs: map[string]*exec.Cmd{}, done: map[string]chan struct{}{}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pool := p.pool(t, "r", func(o *skypilot.Options) {
		o.Provider, o.Remote, o.Program, o.Deadline = provider, provider, self, 5*time.Minute
	})
	// Old programs are removed; a cluster can still run a recent one.
	programs := filepath.Join(s.home, ".fevalgraph", "bin")
	if err := os.MkdirAll(programs, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, days := range map[string]int{"old": 40, "recent": 20} {
		past := time.Now().AddDate(0, 0, -days)
		if err := errors.Join(os.WriteFile(filepath.Join(programs, name), nil, 0o700), os.Chtimes(filepath.Join(programs, name), past, past)); err != nil {
			t.Fatal(err)
		}
	}
	session := open(t, pool, "a")
	exit, out, err := run(t, session, "/bin/sh", "-c", "echo it works; exit 3")
	if err != nil || exit.Code != 3 || out != "it works\n" {
		t.Errorf("got %+v, %q, %v", exit, out, err)
	}
	bin, err := filepath.Glob(filepath.Join(programs, "*"))
	if err != nil || len(bin) != 2 || strings.Contains(strings.Join(bin, ""), "$") || !slices.Contains(bin, filepath.Join(programs, "recent")) {
		t.Errorf("programs on the cluster: %v, %v", bin, err)
	}
	var cluster string
	for _, l := range p.has(t) {
		cluster = l.Cluster
	}
	if err := provider.End(t.Context(), cluster); err != nil { // the machines go away
		t.Fatal(err)
	}
	lost := (*backend.PreemptedError)(nil)
	if _, _, err := run(t, session, "/bin/true"); !errors.As(err, &lost) {
		t.Errorf("its machines are gone: %v", err)
	}
	session.Close(t.Context())
	closed(t, pool)
	if len(p.has(t)) != 0 {
		t.Errorf("leases: %+v", p.has(t))
	}
}
