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

// Options configure a Pool.
type Options struct {
	Provider Provider
	Remote   Remote
	Store    cache.Store
	Leases   Leases
	// Living reports whether a run of the project is going on.
	Living func(run string) (bool, error)
	// Waiting returns how many nodes wait for slots, besides those that have requested a slot, and the
	// seconds that they will take; nil means that none ever wait.
	Waiting func() (nodes int, seconds float64)
	// Notice reports the pool's actions to the user; it can be nil.
	Notice func(text string)
	// Serial has a value while a cluster is launched, where two at once disturb each other,
	// and room for one; nil: they do not.
	Serial chan struct{}
	Labels
	Limits
	Host
	facts.Source
}

// Labels name a pool and its clusters.
type Labels struct {
	Name     string // the backend's address
	Project  string // letters that tell projects apart
	Run      string
	API      string // address of the API server
	Machines string // what clusters are made of, for users and to tell kinds apart
}

// Limits bound the clusters of a pool, and what they cost.
type Limits struct {
	Slots       int           // sessions at once on a cluster
	MaxClusters int           // at once
	Deadline    time.Duration // for a cluster to be there
	Idle        time.Duration // without work, after which a cluster is ended during a run; 0: at its end
	Keep        time.Duration // how long clusters wait for another run; 0: not
	// Hourly returns the US dollars that a cluster costs in an hour; nil: not known.
	Hourly  func() *float64
	MaxCost float64 // US dollars that a run can spend; 0 means no limit
}

// Host describes how clusters are used.
type Host struct {
	Setup           []string // commands on each cluster before its worker
	Program         string   // the file of fevalgraph for the clusters
	Python          string
	Isolation       string
	Versions        []string
	GoJudge         string // a name on the clusters, or a file of this machine; "": none
	GoJudgeVersions []string
	GPUs            bool // clusters have some
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
	program, judge string // digests of what clusters get
	facts          *facts.File

	mu        sync.Mutex
	changed   chan struct{} // closed, and made again, when any of this changes
	clusters  []*cluster
	launching int
	waiting   int           // callers of acquire
	adopting  chan struct{} // closed when leases of dead runs were looked at; nil before that begins
	reserved  float64       // US dollars an hour of clusters that are being launched
	wrong     error         // a cluster was not what this run takes clusters to be
	failed    error         // the last launch
	failedAt  time.Time     // when
	spent     float64       // US dollars, of clusters that were ended
	left      []Lease       // of clusters that could not be ended
	prepared  []preparation
	closed    bool

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
			return nil, &backend.ToolError{Tool: "go-judge", Err: err, Hint: "name a static go-judge for the clusters' system in go_judge"}
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

// launchSeconds is the assumed cost of a launch when it is weighed against waiting, and unknownSeconds that
// of a node of unknown cost.
const (
	launchSeconds  = 60
	unknownSeconds = 10
)

// failurePause is the time for which a failed launch answers all requests for a cluster.
const failurePause = time.Minute

// acquire takes a slot of a cluster, and has one launched if that is worth it. prefers
// tells clusters that have something of the caller's already; it can be nil.
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
	if adopting := p.adopting; adopting != nil { // one of them can have the caller's work
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
		case p.wrong != nil:
			return nil, p.wrong
		case p.failed != nil && time.Since(p.failedAt) < failurePause && p.living() == 0 && p.launching == 0:
			return nil, p.failed
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
			p.dropped(c)
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

// wantsMore reports whether another cluster is worth its launch: no cluster exists, or the existing clusters
// would need longer for the queue.
func (p *Pool) wantsMore() bool {
	have := p.living() + p.launching
	if len(p.clusters)+p.launching >= p.opt.MaxClusters { // a lost cluster can still be there
		return false
	}
	if have == 0 {
		return true
	}
	if p.failed != nil && time.Since(p.failedAt) < failurePause {
		return false
	}
	nodes, seconds := 0, 0.0
	if p.opt.Waiting != nil {
		nodes, seconds = p.opt.Waiting()
	}
	// What has asked for a slot is as long as what has not, as far as that is known.
	if nodes > 0 && seconds > 0 {
		seconds *= float64(nodes+p.waiting) / float64(nodes)
	}
	return Enough(nodes+p.waiting, seconds, p.opt.Slots, p.opt.MaxClusters) > have
}

// Enough returns how many clusters are worth their launch for so many nodes, which take so many seconds
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
			p.dropped(c)
		}
	}
	p.failed, p.failedAt = err, time.Now()
}

// launchInTurn launches a cluster when no other launch is in its way, and as long as the run can pay for it:
// reserved is its possible cost, until it belongs to the pool.
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
