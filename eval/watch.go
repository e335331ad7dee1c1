package eval

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/reads"
	"github.com/fevalgraph/fevalgraph/eval/wake"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Watch makes the same call again whenever what it has read is different. It is for one goroutine
// at a time.
type Watch struct {
	options Options
	seen    *reads.Seen                // by the last call; nil before there was one
	config  []byte                     // digest of the configuration that it read; nil when it has none
	failed  string                     // why the last call had no outcome; "" when it had one
	did     map[string]string          // how nodes ended in the last run, by address: see ends
	shown   shownParts                 // by the last run, beside these nodes
	again   func(context.Context) bool // reports whether another call would do anything
	polls   bool                       // and this has been said
}

// Change is why a call is made again.
type Change struct {
	Path string // that is different
	Run  bool   // a run has ended, of another process
}

// NewWatch watches a project.
func NewWatch(o Options) *Watch { return &Watch{options: o} }

// Run is as Run. What the request forces or retries is forced or retried once.
func (w *Watch) Run(ctx context.Context, r Request) (out *Outcome, err error) {
	w.did = map[string]string{}
	sinks := event.Sinks{ends(w.did)}
	if r.Progress != nil {
		sinks = append(sinks, r.Progress)
	}
	r.Progress = sinks
	err = w.call(ctx, w.options, Writing, r.files(&w.options), func(f *freshness) (err error) {
		out, err = f.runRequest(ctx, r)
		w.shown = f.shownParts()
		return err
	})
	if w.failed = ""; out == nil && err != nil {
		w.failed = reason(err)
	}
	r.Force, r.Retry = nil, nil
	w.again = func(ctx context.Context) bool { return w.works(ctx, r) }
	return out, err
}

// Status is as Status.
func (w *Watch) Status(ctx context.Context, s Selection) (all []CheckpointStatus, tasks []Decision, err error) {
	files := append((&Request{Selection: s}).files(&w.options), cache.Probe{Path: w.latest()})
	err = w.call(ctx, w.options, Reading, files, func(f *freshness) (err error) {
		all, tasks, err = f.status(ctx, s)
		return err
	})
	w.again = func(context.Context) bool { return true }
	return all, tasks, err
}

// latest is the file that another process's run changes.
func (w *Watch) latest() string { return options.Absolute(event.LatestFile(w.options.StateDir())) }

// files are those that a request names.
func (r *Request) files(o *Options) (all []cache.Probe) {
	for _, name := range []string{r.Pairs, r.Cells} {
		if name != "" {
			all = append(all, cache.Probe{Path: options.Absolute(o.Path(name)), Follow: true})
		}
	}
	return all
}

// call opens the project for a call, which closes it, and notes what is read, beside some files.
func (w *Watch) call(ctx context.Context, o Options, access Access, files []cache.Probe, do func(*freshness) error) error {
	root := options.Absolute(o.ProjectDir())
	begun := reads.Begin(root, w.seen, files)
	var r reads.Reads
	mended := false
	f, err := openChanged(ctx, o, access)
	if err == nil {
		err = do(f)
		r = f.reads()
	} else {
		var mistakes diag.List
		r, mended = reads.OfMistake(&w.options)
		mended = mended && errors.As(err, &mistakes)
	}
	w.config = r.Config
	w.seen = begun.See(r)
	if mended {
		w.seen.Disturb(root)
	}
	return err
}

// reads are what the project has read so far.
func (f *freshness) reads() reads.Reads {
	r := reads.Reads{Own: []string{f.state, f.lockPath()}}
	if dir, err := f.options.CacheDir(f.Config); err == nil {
		r.Own = append(r.Own, dir)
	}
	for _, e := range f.Config.Exports {
		r.Own = append(r.Own, e.Path)
	}
	earlier := func(encoded []byte) {
		if s, err := cache.DecodeSnapshot(encoded); err == nil {
			r.Snapshots = append(r.Snapshots, s)
		}
	}
	r.Sightings = append(slices.Clone(f.inputs), f.trace.All()...)
	if f.evaluated {
		if content, err := lang.Archive(f.Config); err == nil {
			sum := sha256.Sum256(content)
			r.Config = sum[:]
		}
	} else {
		r.Config = f.index.Config
		earlier(f.index.Inputs)
	}
	shared := map[[sha256.Size]byte]bool{}
	for _, part := range f.fresh() {
		facts := part.facts
		if facts.Run == f.run { // the trace has what those rest on
			continue
		}
		earlier(facts.Snapshot)
		for _, s := range facts.Shared {
			if !shared[s.Sum] {
				shared[s.Sum] = true
				earlier(f.shared[s.Sum].Snapshot)
			}
		}
	}
	return r
}

// Wait returns when another call may find out something else, which is at once when something
// changed during the last one. A burst of changes is one. The error is the cause with which ctx ended.
func (w *Watch) Wait(ctx context.Context) (Change, error) {
	for {
		path, err := w.change(ctx)
		if err != nil {
			return Change{}, err
		}
		if w.again(ctx) && ctx.Err() == nil {
			return Change{Path: path, Run: path == w.latest()}, nil
		}
	}
}

// change waits until something that was read is different, and returns its path.
func (w *Watch) change(ctx context.Context) (string, error) {
	source := wake.Open(w.seen.Paths())
	defer source.Close()
	if why := source.Polls(); why != nil && !w.polls {
		w.options.Note(options.Polling{Err: why, Every: wake.Often})
	}
	w.polls = source.Polls() != nil
	next := source.Next
	if w.seen.Difference() != "" {
		next = source.Quiet
	}
	for {
		if err := next(ctx); err != nil {
			return "", err
		}
		if path := w.seen.Difference(); path != "" {
			return path, nil
		}
		next = source.Next
	}
}

// works reports whether a run would have anything to do: nodes to execute, another configuration, or
// another reason why it cannot. Otherwise the answers that there are rest on what there is now.
func (w *Watch) works(ctx context.Context, r Request) bool {
	o, was, fresh := w.options, w.config, false
	o.Notify = nil // the run says it
	failed := w.call(ctx, o, Reading, r.files(&o), func(f *freshness) (err error) {
		defer f.Close()
		fresh, err = f.nothingNew(ctx, r, w.did, w.shown)
		return err
	})
	if failed != nil || w.failed != "" {
		return failed == nil || reason(failed) != w.failed
	}
	return !fresh || w.config == nil || !bytes.Equal(was, w.config)
}

// reason is all that an error says.
func reason(err error) string {
	var mistakes diag.List
	if errors.As(err, &mistakes) {
		if all, err := json.Marshal(mistakes); err == nil {
			return string(all)
		}
	}
	return err.Error()
}

// ends are how nodes ended: the keys that they had, or why they had none.
type ends map[string]string

// Emit implements event.Sink.
func (m ends) Emit(e event.Event) {
	if done, ok := e.(event.NodeDone); ok {
		m[done.Addr] = cmp.Or(done.Key, done.Message)
	}
}

// shownParts maps partitions to the files with the results that a run showed.
type shownParts map[partRefKey]partition.Name

func (f *freshness) shownParts() shownParts {
	shown := shownParts{}
	for _, part := range f.fresh() {
		shown[partRefKey{part.Problem, part.First}] = part.File
	}
	return shown
}

// nothingNew reports whether a run would show what the last one did. It executes none of the nodes
// that are asked for, but for what the last one did to no avail, with the same key or waiting for what
// ended so, and serves the verdicts of the same keys.
func (f *freshness) nothingNew(ctx context.Context, r Request, did map[string]string, shown shownParts) (bool, error) {
	g, err := f.prepare(ctx, r)
	if err != nil {
		return false, err
	}
	keys := shownKeys{files: f.partitions, did: did, shown: shown, read: map[partition.Name]map[string]string{}}
	for _, part := range f.fresh() {
		if shown[partRefKey{part.Problem, part.First}] == part.File {
			continue
		}
		for i := range part.facts.Cells { // of a run of another process
			if row := &part.facts.Cells[i]; !keys.has(part, row.Addr, row.Key.String()) {
				return false, nil
			}
		}
	}
	x, err := g.decide(ctx)
	if err != nil {
		return false, err
	}
	fruitless := map[graph.ID]bool{}
	for _, id := range x.rep.Nodes {
		n, st := g.Plan.Graph.Node(id), x.rep.Status(id)
		if st.State == event.Cached {
			if at, ok := f.partOf(n.Label("problem"), n.Label("solution")); ok && n.Kind == plan.KindAggregate && !keys.has(&f.parts[at], n.Addr, keyOf(st)) {
				return false, nil
			}
			continue
		}
		end, ran := did[n.Addr]
		fruitless[id] = ran && end == cmp.Or(keyOf(st), st.Message) || slices.ContainsFunc(n.Deps, func(d graph.Dep) bool { return fruitless[d.On] })
		if !fruitless[id] {
			return false, nil
		}
	}
	return true, nil
}

// shownKeys looks up the keys of the answers that the last run showed.
type shownKeys struct {
	files partition.Store
	did   map[string]string
	shown shownParts
	read  map[partition.Name]map[string]string // files of the partitions that it served as a whole
}

// has reports whether a node of a partition was shown with a key.
func (k *shownKeys) has(part *partState, addr, key string) bool {
	if was, ok := k.did[addr]; ok {
		return was == key
	}
	name := k.shown[partRefKey{part.Problem, part.First}]
	if k.read[name] == nil {
		k.read[name] = map[string]string{}
		rows, _ := k.files.Rows(name) // without them another call shows what there is
		for i := range rows {
			k.read[name][rows[i].Addr] = rows[i].Key.String()
		}
	}
	return k.read[name][addr] == key
}
