package skypilot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend/skypilot/api"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// BackendKind returns the kind "skypilot".
func BackendKind() kind.Kind {
	return kind.Kind{
		Name: Kind, Block: block(), New: open, Asks: asks, Environments: worker.Environments, Check: check,
		Server:   func(b *lang.Backend) any { return lang.AttributesOf[attributes](b).API },
		Clusters: clusters, EndClusters: endClusters, Forecast: forecast,
	}
}

// asks returns the API server that the block names. Calls with read access only query it for prices.
func asks(b *lang.Backend) []string {
	server := lang.AttributesOf[attributes](b).API
	if server == localAPI {
		return nil
	}
	return []string{"talk to " + server}
}

// forecast returns how many clusters a pool would launch for an amount of work.
func forecast(ctx context.Context, s *kind.Site, b *lang.Backend, nodes int, seconds float64, trusted bool) kind.Launch {
	sky := lang.AttributesOf[attributes](b)
	l := kind.Launch{Machines: machinesOf(b), Clusters: Enough(nodes, seconds, b.Machines.Slots, b.Machines.MaxClusters)}
	if trusted || sky.Price > 0 {
		l.Hourly = hourlyCost(ctx, &provider{client: clientOf(sky.API, b.Token, s.LookupEnv)}, b)
	}
	return l
}

// poolKey is equal for blocks that share clusters.
type poolKey struct {
	addr      string
	resources lang.Resources
}

// open makes the backend, and the sandbox, of a block. It does not contact SkyPilot before the first use.
func open(s *kind.Site, b *lang.Backend, _ []string) (plan.Executor, error) {
	pool, err := kind.Shared(s, poolKey{b.Addr(), b.Machines.Resources}, func() (*Pool, error) { return newPool(s, b) })
	if err != nil {
		return plan.Executor{}, err
	}
	made := plan.Executor{Backend: pool.Backend()}
	if b.Judges {
		made.Sandbox = pool.Sandbox()
	}
	return made, nil
}

func newPool(s *kind.Site, b *lang.Backend) (*Pool, error) {
	sky, m := lang.AttributesOf[attributes](b), b.Machines
	program, err := kind.WorkerProgram(sky.Program, "clusters")
	if err != nil {
		return nil, err
	}
	asked := &provider{clientOf(sky.API, b.Token, s.LookupEnv), localServerOf(s, sky.API), taskOf(b)}
	o := Options{
		Provider: asked,
		Remote:   remoteOf(sky, s.LookupEnv),
		Store:    s.Store,
		Leases:   leasesOf(s),
		Living:   s.Living,
		Waiting:  func() (int, float64) { return s.Backlog(m.Pool) },
		Notice:   s.Notice,
		Labels:   Labels{Name: b.Addr(), Project: s.Project(3), Run: s.Run, API: sky.API, Machines: machinesOf(b)},
		Limits:   Limits{Slots: m.Slots, MaxClusters: m.MaxClusters, Deadline: sky.Deadline, Idle: sky.Idle, Keep: sky.Keep, MaxCost: sky.MaxCost},
		Host:     Host{Setup: sky.ClusterSetup, Program: program, Python: b.Python, Isolation: sky.Isolation, Versions: sky.Versions, GoJudge: sky.GoJudge, GoJudgeVersions: sky.GoJudgeVersions, GPUs: m.Resources.Accelerators != ""},
	}
	if s.Registry == nil { // no node will run
		o.NotAsked = &graph.UnknownError{Err: fmt.Errorf("the machines of backend %s are unknown until a run launches some", b.Addr())}
	}
	if s.Registry != nil {
		o.Hourly = sync.OnceValue(func() *float64 { return hourlyCost(context.Background(), asked, b) })
	}
	if strings.HasPrefix(sky.Infra, "slurm") {
		// On one machine, SkyPilot's daemons of clusters that start at the same time compete for a port.
		if o.Serial, err = kind.Shared(s, serialKey(sky.Infra), func() (chan struct{}, error) { return make(chan struct{}, 1), nil }); err != nil {
			return nil, err
		}
	}
	o.Facts, o.Place = s.MachineFacts(b.Addr(), o.Machines, o.Python, o.Isolation, o.Versions, o.Setup, o.GoJudge, o.GoJudgeVersions), s.Place
	pool, err := NewPool(o)
	if err == nil {
		s.OnClose(func() error {
			if err := pool.Close(); err != nil { // existing verdicts stay valid
				s.Leftover(err)
			}
			return nil
		})
	}
	return pool, err
}

type serialKey string

// clientOf returns a client of a block's API server, with the user of SkyPilot's commands.
func clientOf(name, token string, lookupEnv func(string) (string, bool)) *api.Client {
	home, _ := lookupEnv("HOME")
	user := api.User{Token: token}
	user.ID, _ = lookupEnv("SKYPILOT_USER_ID")
	if user.ID == "" {
		text, err := os.ReadFile(filepath.Join(home, ".sky", "user_hash"))
		if user.ID = strings.TrimSpace(string(text)); err != nil || user.ID == "" {
			sum := sha256.Sum256([]byte(fmt.Sprint(home, os.Getuid())))
			user.ID = hex.EncodeToString(sum[:4])
		}
	}
	user.Name, _ = lookupEnv("USER")
	user.Name = cmp.Or(user.Name, "fevalgraph")
	return api.New(baseOf(name, lookupEnv), user, nil)
}

// taskOf returns the task for SkyPilot, without commands.
func taskOf(b *lang.Backend) api.Task {
	sky, r := lang.AttributesOf[attributes](b), b.Machines.Resources
	t := api.Task{Resources: api.Resources{
		Infra: sky.Infra, CPUs: r.CPUs, Memory: r.Memory, Accelerators: r.Accelerators, InstanceType: r.Instance, ImageID: r.Image, UseSpot: sky.Spot,
	}}
	if r.Cloud != "" || r.Region != "" {
		t.Resources.Infra = strings.TrimSuffix(cmp.Or(r.Cloud, strings.SplitN(sky.Infra, "/", 2)[0])+"/"+r.Region, "/")
	}
	t.Resources.DiskSize, _ = strconv.Atoi(r.Disk)
	t.NumNodes, _ = strconv.Atoi(r.Nodes)
	if sky.Autostop > 0 {
		t.Resources.Autostop = &api.Autostop{IdleMinutes: max(1, int(sky.Autostop.Minutes())), Down: true}
	}
	if sky.TimeLimit > 0 && strings.HasPrefix(t.Resources.Infra, "slurm") {
		t.Sbatch = map[string]string{"time": clock(sky.TimeLimit)}
	}
	return t
}

// machinesOf describes the machines of clusters for users.
func machinesOf(b *lang.Backend) string {
	sky := lang.AttributesOf[attributes](b)
	text := sky.Infra
	if resources := b.Machines.Resources.String(); resources != "" {
		text += " " + resources
	}
	if sky.Spot {
		text += " spot"
	}
	return text
}

// remoteOf returns how to reach the clusters. On Slurm that is the login node. Its name in SkyPilot's ssh
// configuration is the second part of infra.
func remoteOf(sky *attributes, lookupEnv func(string) (string, bool)) SSH {
	r := SSH{Config: sky.SSHConfig}
	parts := strings.Split(sky.Infra, "/")
	if parts[0] != "slurm" {
		return r
	}
	if home, _ := lookupEnv("HOME"); r.Config == "" {
		r.Config = filepath.Join(home, ".slurm", "config")
	}
	if len(parts) > 1 && sshHost().MatchString(parts[1]) {
		r.Host = parts[1]
	}
	return r
}

// sshHost matches names that ssh does not parse as options.
var sshHost = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func leasesOf(s *kind.Site) Leases {
	return Leases{Dir: filepath.Join(s.State, "clusters"), Key: s.Key}
}

// hourlyCost returns the cost of a cluster of a block, in US dollars; nil means unknown. SkyPilot's catalogue
// has prices of machines with accelerators.
func hourlyCost(ctx context.Context, p *provider, b *lang.Backend) *float64 {
	sky, r := lang.AttributesOf[attributes](b), b.Machines.Resources
	if sky.Price > 0 {
		return &sky.Price
	}
	cloud := cmp.Or(r.Cloud, strings.SplitN(sky.Infra, "/", 2)[0])
	name, count, _ := strings.Cut(r.Accelerators, ":")
	n, err := strconv.Atoi(cmp.Or(count, "1"))
	if name == "" || err != nil || cloud == "slurm" || cloud == "kubernetes" || cloud == "ssh" {
		return nil
	}
	var offers []api.Offer
	err = p.request(ctx, func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		offers, err = p.client.Offers(ctx, name, n, cloud)
		return err
	})
	if err != nil || len(offers) == 0 {
		return nil
	}
	price := offers[0].Price
	if sky.Spot {
		price = offers[0].SpotPrice
	}
	if nodes, err := strconv.Atoi(r.Nodes); err == nil {
		price *= float64(nodes)
	}
	if price == 0 {
		return nil
	}
	return &price
}

// clusters returns the project's clusters, for users.
func clusters(s *kind.Site) ([]kind.Cluster, error) {
	leases, err := leasesOf(s).All()
	var all []kind.Cluster
	for _, l := range leases {
		c := kind.Cluster{Name: l.Cluster, Backend: l.Backend, Machines: l.Machines, Run: l.Run, Since: l.Asked, Kept: l.Kept}
		if cost, known := l.Cost(time.Now()); known {
			c.Cost = &cost
		}
		all = append(all, c)
	}
	return all, err
}

// endClusters ends clusters of the project that no living run has.
func endClusters(ctx context.Context, s *kind.Site, all bool) (ended []string, err error) {
	leases, err := leasesOf(s).All()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var work sync.WaitGroup
	var errs []error
	for _, l := range leases {
		living, err := s.Living(l.Run)
		if err != nil {
			return nil, err
		}
		if living && l.Run != s.Run || !all && (l.Run == s.Run || time.Now().Before(l.Kept)) {
			continue
		}
		own := localServerOf(s, l.API)
		work.Go(func() {
			o := Options{Provider: &provider{client: clientOf(l.API, tokenOf(s), s.LookupEnv), own: own}, Leases: leasesOf(s)}
			l, ok, err := o.Leases.Retire(ctx, l)
			if ok {
				err = o.End(ctx, l)
			}
			mu.Lock()
			defer mu.Unlock()
			if errs = append(errs, err); ok && err == nil { // otherwise a run has it, or it is gone
				ended = append(ended, l.Cluster)
			}
		})
	}
	work.Wait()
	return ended, errors.Join(errs...)
}

// tokenOf returns the token of SkyPilot's commands, for a cluster whose block may be gone.
func tokenOf(s *kind.Site) string {
	token, _ := s.LookupEnv("SKYPILOT_SERVICE_ACCOUNT_TOKEN")
	return token
}

// doctorPatience limits how long the doctor waits for a server.
const doctorPatience = 10 * time.Second

// check queries the health of a block's server. It starts none.
func check(ctx context.Context, s *kind.Site, b *lang.Backend) kind.Finding {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	finding := func(state, format string, args ...any) kind.Finding {
		return kind.Finding{Subject: Kind, State: state, Detail: fmt.Sprintf(format, args...)}
	}
	server := lang.AttributesOf[attributes](b).API
	health, err := clientOf(server, b.Token, s.LookupEnv).Health(ctx)
	if err == nil {
		return finding("ok", "SkyPilot %s at %s", health.Version, baseOf(server, s.LookupEnv))
	}
	if server != localAPI || !api.Unreachable(err) {
		return finding("missing", "%v (hint: see api of backend %s)", err, b.Addr())
	}
	sky, err := exec.LookPath("sky")
	if err != nil {
		return finding("missing", "no API server answers at %s, and sky is not in PATH (hint: %s)", baseOf(localAPI, s.LookupEnv), skyHint)
	}
	return finding("ok", "%s; runs start its API server, since %s does not answer", sky, baseOf(localAPI, s.LookupEnv))
}
