package skypilot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/backend/worker/workerhost"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// cluster is a cluster of this run.
type cluster struct {
	pool   *Pool
	lease  Lease
	client *worker.Client
	asked  func() (State, error) // queries the provider, with a limited rate

	// Guarded by the pool's lock.
	used     int // slots
	since    time.Time
	lost     bool
	prepared map[string]bool

	preparing chan struct{}         // has a value during preparation or verification
	reported  map[string]facts.Fact // facts that it reported; guarded by preparing
}

// home returns the home directory of the user of a cluster's jobs. On Slurm, HOME is another directory,
// which differs between jobs and logins.
const home = `home=$(getent passwd "$(id -u)" | cut -d: -f6); home=${home:-$HOME}; `

// job returns the script that a cluster runs: it waits for the program, and then runs it as a worker.
func (o *Options) job(name, program string) string {
	flags := []string{"worker", "--dir", `"$dir"`, "--listen", `"$address:0"`, "--idle", max(o.Keep, minIdle).String()}
	for _, f := range [][2]string{{"--python", o.Python}, {"--isolation", o.Isolation}} {
		if f[1] != "" {
			flags = append(flags, f[0], quote(f[1]))
		}
	}
	for _, command := range o.Versions {
		flags = append(flags, "--versions", quote(command))
	}
	if o.GoJudge != "" {
		judge := quote(o.GoJudge)
		if o.carriesGoJudge() {
			judge = `"$dir/go-judge"`
		}
		flags = append(flags, "--go-judge", judge)
		for _, command := range o.GoJudgeVersions {
			flags = append(flags, "--go-judge-versions", quote(command))
		}
	}
	return fmt.Sprintf(`[ "${SKYPILOT_NODE_RANK:-0}" = 0 ] || exec sleep infinity # the first machine's job is the worker
umask 077
%s
dir=$home/.fevalgraph/%s program=$home/.fevalgraph/bin/%s
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
address=$(printf '%%s\n' "$SKYPILOT_NODE_IPS" | head -n 1)
for i in $(seq 3000); do
  [ -e "$dir/ready" ] && break
  sleep 0.2
done
PATH=$HOME/.local/bin:$PATH
"$program" %s
`, home, name, program, strings.Join(flags, " "))
}

// minIdle is the minimum time that a worker waits for a run, which might have been killed and restarted.
const minIdle = 10 * time.Minute

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// carriesGoJudge reports whether go-judge is a file of this machine that is copied to clusters.
func (o *Options) carriesGoJudge() bool { return strings.ContainsRune(o.GoJudge, os.PathSeparator) }

// keptPrograms is how many days a program stays in a home directory after its last upload. No worker runs
// that long.
const keptPrograms = 30

// push copies a program to the cluster, unless it is already there.
func (o *Options) push(ctx context.Context, name, file, digest, target string) error {
	script := home + fmt.Sprintf(`umask 077; mkdir -p "$home/.fevalgraph/bin" "$home/.fevalgraph/%s"; b="$home/.fevalgraph/bin/%s"; `, name, digest)
	// A shared home directory outlives clusters, so programs that were not uploaded for a month are removed.
	script += fmt.Sprintf(`find "$home/.fevalgraph/bin" -type f ! -name %s -mtime +%d -exec rm -f {} + 2>/dev/null; `, digest, keptPrograms)
	link := ""
	if target != "" {
		link = fmt.Sprintf(`ln -sfn "$b" "$home/.fevalgraph/%s/%s"; `, name, target)
	}
	there, err := o.Remote.Run(ctx, name, script+`[ -x "$b" ] && { touch "$b"; `+link+`echo there; }; true`, nil)
	if err != nil || strings.TrimSpace(string(there)) == "there" {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	script += fmt.Sprintf(`t="$b.$$"; cat >"$t" && echo "%s  $t" | sha256sum -c --status && chmod 700 "$t" && mv "$t" "$b" || { rm -f "$t"; echo damaged on its way >&2; exit 1; }; %s`, digest, link)
	_, err = o.Remote.Run(ctx, name, script, f)
	return err
}

// fileDigest returns the SHA-256 of a program, in hexadecimal.
func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// launch launches a cluster and connects to its worker. The lease exists as long as the cluster, even
// after errors.
func (p *Pool) launch(ctx context.Context) (*cluster, error) {
	o := &p.opt
	ctx, cancel := context.WithTimeoutCause(ctx, o.Deadline, fmt.Errorf("no cluster became available within the backend's deadline of %v", o.Deadline))
	defer cancel()
	if err := o.Provider.Ready(ctx); err != nil { // no cluster exists yet
		return nil, fmt.Errorf("launching a cluster: %w", err)
	}
	lease := Lease{
		Cluster: newName(o.Project), API: o.API, Backend: o.Name, Machines: o.Machines, Kind: p.kind, Run: o.Run, Asked: time.Now().UTC(), Hourly: o.Hourly(),
	}
	if err := o.Leases.Write(lease); err != nil {
		return nil, err
	}
	o.notice("launching cluster %s (%s)", lease.Cluster, o.Machines)
	begun := time.Now()
	err := o.Provider.Launch(ctx, lease.Cluster, Task{Setup: o.Setup, Run: o.job(lease.Cluster, p.program)})
	var c *cluster
	if err == nil {
		c, err = p.connect(ctx, lease)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w (the last error: %w)", cause, err)
		}
		p.spend(lease)
		return nil, errors.Join(fmt.Errorf("launching cluster %s: %w", lease.Cluster, err), p.end(context.WithoutCancel(ctx), lease))
	}
	o.notice("cluster %s is up after %.0fs", lease.Cluster, time.Since(begun).Seconds())
	return c, nil
}

// connect copies the program to a cluster and attaches to its worker.
func (p *Pool) connect(ctx context.Context, lease Lease) (*cluster, error) {
	o := &p.opt
	if err := o.push(ctx, lease.Cluster, o.Program, p.program, ""); err != nil {
		return nil, fmt.Errorf("sending the program: %w", err)
	}
	if p.judge != "" {
		if err := o.push(ctx, lease.Cluster, o.GoJudge, p.judge, "go-judge"); err != nil {
			return nil, fmt.Errorf("sending go-judge: %w", err)
		}
	}
	// The job can start: all files that it needs exist.
	if _, err := o.Remote.Run(ctx, lease.Cluster, home+fmt.Sprintf(`: >"$home/.fevalgraph/%s/ready"`, lease.Cluster), nil); err != nil {
		return nil, err
	}
	c := &cluster{pool: p, lease: lease, since: time.Now(), prepared: map[string]bool{}, preparing: make(chan struct{}, 1), reported: map[string]facts.Fact{}}
	c.asked = c.askProvider(5 * time.Second)
	address, err := c.address(ctx)
	if err != nil {
		return nil, err
	}
	c.client, err = worker.Connect(ctx, o.Store, worker.ClientOptions{
		Access:      address.Access,
		Dial:        func(ctx context.Context) (net.Conn, error) { return o.Remote.Dial(ctx, lease.Cluster, address.Address) },
		Unreachable: c.unreachable,
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to the worker: %w", err)
	}
	return c, nil
}

// address returns the address that the worker of a cluster has printed, or "".
func (o *Options) address(ctx context.Context, cluster string) (a workerhost.Address, there bool, err error) {
	text, err := o.Remote.Run(ctx, cluster, home+fmt.Sprintf(`cat "$home/.fevalgraph/%s/%s" 2>/dev/null; true`, cluster, workerhost.AddressFile), nil)
	if text = bytes.TrimSpace(text); err != nil || len(text) == 0 {
		return a, false, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, false, fmt.Errorf("reading the worker's address: %w", err)
	}
	return a, true, nil
}

// address waits for the worker to print its address.
func (c *cluster) address(ctx context.Context) (a workerhost.Address, err error) {
	for asked := time.Now(); ; {
		a, there, err := c.pool.opt.address(ctx, c.lease.Cluster)
		if there || err != nil {
			return a, err
		}
		if state, err := c.asked(); err == nil && state == Gone {
			return a, errors.New("the cluster disappeared before its worker started")
		}
		if time.Since(asked) > 15*time.Second { // since a failed login takes seconds
			asked = time.Now()
			if err := c.pool.opt.Provider.Failed(ctx, c.lease.Cluster); err != nil {
				return a, err
			}
		}
		if err := retry.Sleep(ctx, 300*time.Millisecond); err != nil {
			return a, fmt.Errorf("the worker did not start: %w", err)
		}
	}
}

// askProvider returns a function that asks the provider for the cluster's state, and caches the answer for
// a while.
func (c *cluster) askProvider(every time.Duration) func() (State, error) {
	var mu sync.Mutex
	var at time.Time
	state, err := Starting, error(nil)
	return func() (State, error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(at) >= every {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			state, err = c.pool.opt.Provider.State(ctx, c.lease.Cluster)
			at = time.Now()
		}
		return state, err
	}
}

// unreachable is called while the worker does not answer. The provider knows whether the wait makes sense;
// if it does not answer, the wait continues.
func (c *cluster) unreachable(_ context.Context, err error) error {
	state, wrong := c.asked()
	if wrong != nil || state != Gone {
		return nil
	}
	return &backend.PreemptedError{Err: fmt.Errorf("cluster %s is gone (%w)", c.lease.Cluster, err)}
}
