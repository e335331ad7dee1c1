package skypilot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Options configures a Pool.
type Options struct {
	Provider Provider
	Remote   Remote
	Store    cache.Store
	Leases   Leases
	// Living reports whether a run of the project is running.
	Living func(run string) (bool, error)
	// Waiting returns how many nodes wait for slots, besides those that have requested a slot, and the
	// expected duration of their work in seconds; nil means that no nodes wait.
	Waiting func() (nodes int, seconds float64)
	// Notice reports the pool's actions to the user; it can be nil.
	Notice func(text string)
	// Serial is a channel with capacity 1 that has a value during a launch, if concurrent launches disturb
	// each other; nil if they do not.
	Serial chan struct{}
	Labels
	Limits
	Host
	facts.Source
}

// Labels name a pool and its clusters.
type Labels struct {
	Name     string // the backend's address
	Project  string // letters that identify the project
	Run      string
	API      string // address of the API server
	Machines string // description of the machines, for users and to distinguish kinds
}

// Limits bound the clusters of a pool, and what they cost.
type Limits struct {
	Slots       int           // concurrent sessions on a cluster
	MaxClusters int           // at once
	Deadline    time.Duration // for launching a cluster
	Idle        time.Duration // time without work after which a cluster is ended during a run; 0 means at its end
	Keep        time.Duration // how long clusters wait for another run; 0 means that they do not wait
	// Hourly returns the cost of a cluster per hour in US dollars; nil if unknown.
	Hourly  func() *float64
	MaxCost float64 // US dollars that a run can spend; 0 means no limit
}

// Host describes how clusters are used.
type Host struct {
	Setup           []string // commands on each cluster before its worker
	Program         string   // file of fevalgraph for the clusters
	Python          string
	Isolation       string
	Versions        []string
	GoJudge         string // a name on the clusters, or a file of this machine; "" means none
	GoJudgeVersions []string
	GPUs            bool // clusters have GPUs
}

func (o *Options) notice(format string, args ...any) {
	if o.Notice != nil {
		o.Notice(fmt.Sprintf("backend %s: %s", o.Name, fmt.Sprintf(format, args...)))
	}
}

// Pool has clusters of one kind. It is safe for concurrent use.
type Pool struct {
	opt            Options
	kind           string // see Lease.Kind
	program, judge string // digests of the files that clusters get
	facts          *facts.File

	mu           sync.Mutex
	changed      chan struct{} // closed and replaced when the state changes
	clusters     []*cluster
	launching    int
	waiting      int           // callers of acquire
	adopting     chan struct{} // closed after adoption of clusters; nil before that begins
	reserved     float64       // US dollars an hour of clusters that are being launched
	factMismatch error         // a cluster differed from the known facts
	launchErr    error         // error of the last launch
	failedAt     time.Time     // when
	spent        float64       // US dollars for ended clusters
	leftovers    []Lease       // clusters that could not be ended
	prepared     []preparation
	closed       bool

	stop func()
	work sync.WaitGroup
}

// NewPool returns a pool without clusters. It does not contact SkyPilot.
func NewPool(o Options) (*Pool, error) {
	p := &Pool{opt: o, changed: make(chan struct{})}
	var err error
	if p.program, err = fileDigest(o.Program); err != nil {
		return nil, fmt.Errorf("reading the program for clusters: %w", err)
	}
	if o.GoJudge != "" && o.carriesGoJudge() {
		if p.judge, err = fileDigest(o.GoJudge); err != nil {
			return nil, &backend.ToolError{Tool: "go-judge", Err: err, Hint: "set go_judge to a static go-judge for the clusters' system"}
		}
	}
	text, err := json.Marshal([]any{o.API, o.Machines, o.Slots, o.Setup, p.program, o.Python, o.Isolation, o.Versions, o.GoJudge, p.judge, o.GoJudgeVersions, worker.Protocol})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	p.kind = hex.EncodeToString(sum[:])
	p.facts = facts.Read(o.Facts, o.Place)
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	if o.Idle > 0 {
		p.work.Go(func() { p.endIdle(ctx) })
	}
	return p, nil
}

func (p *Pool) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// launchSeconds is the assumed duration of a launch, compared with waiting, and unknownSeconds that of a
// node with unknown duration.
const (
	launchSeconds  = 60
	unknownSeconds = 10
)

// failurePause is how long the error of a failed launch is returned for all requests.
const failurePause = time.Minute

// acquire returns a slot of a cluster, and launches a cluster if that is worthwhile. prefers reports
// clusters that already have data of the caller; it can be nil.
func (p *Pool) acquire(ctx context.Context, prefers func(*worker.Client) bool) (*cluster, error) {
	if p.opt.NotAsked != nil {
		return nil, p.opt.NotAsked
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	defer func() { p.waiting-- }()
	if p.closed {
		return nil, errPoolClosed
	}
	if p.adopting == nil {
		p.adopting = make(chan struct{})
		p.work.Go(func() { p.adopt(context.WithoutCancel(ctx)) })
	}
	if adopting := p.adopting; adopting != nil { // one of them can contain the caller's work
		p.mu.Unlock()
		select {
		case <-adopting:
		case <-ctx.Done():
		}
		p.mu.Lock()
	}
	for {
		switch {
		case p.closed:
			return nil, errPoolClosed
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case p.factMismatch != nil:
			return nil, p.factMismatch
		case p.launchErr != nil && time.Since(p.failedAt) < failurePause && p.living() == 0 && p.launching == 0:
			return nil, p.launchErr
		}
		if c := p.choose(prefers); c != nil {
			c.used++
			return c, nil
		}
		if p.wantsMore() {
			p.launching++
			p.work.Go(func() { p.add(context.WithoutCancel(ctx)) })
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
	}
}

var errPoolClosed = errors.New("the pool of clusters is closed")

// living returns how many clusters can work.
func (p *Pool) living() (n int) {
	for _, c := range p.clusters {
		if !c.lost {
			n++
		}
	}
	return n
}

// choose returns the busiest cluster with a free slot, so that others become idle, or nil.
func (p *Pool) choose(prefers func(*worker.Client) bool) *cluster {
	var best *cluster
	for _, c := range p.clusters {
		if !c.lost && c.client.Gone() != nil { // regardless of the provider's report
			p.markDropped(c)
		}
		if c.lost || c.used >= p.opt.Slots {
			continue
		}
		if prefers != nil && prefers(c.client) {
			return c
		}
		if best == nil || c.used > best.used {
			best = c
		}
	}
	return best
}

// wantsMore reports whether another launch is worthwhile: no cluster exists, or the existing clusters
// would need longer for the queue.
func (p *Pool) wantsMore() bool {
	have := p.living() + p.launching
	if len(p.clusters)+p.launching >= p.opt.MaxClusters { // a lost cluster can still exist
		return false
	}
	if have == 0 {
		return true
	}
	if p.launchErr != nil && time.Since(p.failedAt) < failurePause {
		return false
	}
	nodes, seconds := 0, 0.0
	if p.opt.Waiting != nil {
		nodes, seconds = p.opt.Waiting()
	}
	// Nodes that requested a slot are assumed to take as long as the others.
	if nodes > 0 && seconds > 0 {
		seconds *= float64(nodes+p.waiting) / float64(nodes)
	}
	return Enough(nodes+p.waiting, seconds, p.opt.Slots, p.opt.MaxClusters) > have
}

// Enough returns how many launches are worthwhile for a number of nodes that take a number of seconds
// together; 0 seconds means unknown.
func Enough(nodes int, seconds float64, slots, most int) int {
	if nodes == 0 {
		return 0
	}
	if seconds == 0 {
		seconds = unknownSeconds * float64(nodes)
	}
	enough := math.Ceil(seconds / (launchSeconds * float64(slots)))
	return int(max(1, min(enough, float64(most), math.Ceil(float64(nodes)/float64(slots)))))
}

// add launches a cluster.
func (p *Pool) add(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.cancelWithClose(cancel)()
	c, reserved, err := p.launchInTurn(ctx)
	if err == nil {
		err = p.verify(ctx, c, true)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.launching--
	p.reserved -= reserved
	p.notify()
	if c != nil {
		p.clusters = append(p.clusters, c)
		if err != nil {
			p.markDropped(c)
		}
	}
	p.launchErr, p.failedAt = err, time.Now()
}

// launchInTurn launches a cluster after other launches have ended, if the run's maximum cost allows it.
// Its possible cost is reserved until it belongs to the pool.
func (p *Pool) launchInTurn(ctx context.Context) (c *cluster, reserved float64, err error) {
	if p.opt.Serial != nil {
		select {
		case p.opt.Serial <- struct{}{}:
			defer func() { <-p.opt.Serial }()
		case <-ctx.Done():
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, 0, err
	}
	if reserved, err = p.affords(); err != nil {
		return nil, 0, err
	}
	c, err = p.launch(ctx)
	return c, reserved, err
}

// cancelWithClose makes closing the pool cancel a launch.
func (p *Pool) cancelWithClose(cancel func()) (done func()) {
	finished := make(chan struct{})
	go func() {
		for {
			p.mu.Lock()
			closed, changed := p.closed, p.changed
			p.mu.Unlock()
			if closed {
				cancel()
				return
			}
			select {
			case <-changed:
			case <-finished:
				return
			}
		}
	}()
	return func() { close(finished) }
}

// release gives a slot back.
func (p *Pool) release(c *cluster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.used--
	c.since = time.Now()
	p.notify()
}
