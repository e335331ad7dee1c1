package eval

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/retry"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Watch repeats a call whenever its inputs change. It must be used by one goroutine at a time.
type Watch struct {
	options  Options
	inputs   *watched                   // of the last call; nil before the first
	config   []byte                     // digest of the configuration; nil without one
	failed   string                     // error of the last call; "" if it succeeded
	lastEnds map[string]string          // results of nodes in the last run, by address; see ends
	shown    shownParts                 // partition files that the last run showed, besides these nodes
	again    func(context.Context) bool // reports whether another call would have an effect
}

// Change is the reason for another call.
type Change struct {
	Path string // changed path
	Run  bool   // another process ended a run
}

// NewWatch watches a project.
func NewWatch(o Options) *Watch { return &Watch{options: o} }

// Run calls Run. Nodes that the request forces or retries run once.
func (w *Watch) Run(ctx context.Context, r Request) (out *Outcome, err error) {
	w.lastEnds = map[string]string{}
	sinks := event.Sinks{nodeEnds(w.lastEnds)}
	if r.Progress != nil {
		sinks = append(sinks, r.Progress)
	}
	r.Progress = sinks
	err = w.call(ctx, w.options, Writing, r.files(&w.options), func(f *freshness) (err error) {
		if out, err = f.runRequest(ctx, r); out != nil && out.results != nil {
			f = out.results.written.next
		}
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

// Status calls Status.
func (w *Watch) Status(ctx context.Context, s Selection) (all []CheckpointStatus, tasks []Decision, err error) {
	files := append((&Request{Selection: s}).files(&w.options), cache.Probe{Path: w.latest()})
	err = w.call(ctx, w.options, Reading, files, func(f *freshness) (err error) {
		all, tasks, err = f.status(ctx, s)
		return err
	})
	w.again = func(context.Context) bool { return true }
	return all, tasks, err
}

// latest returns the path of the file that changes when another process runs.
func (w *Watch) latest() string { return options.Absolute(event.LatestFile(w.options.StateDir())) }

// files returns the files that a request names.
func (r *Request) files(o *Options) (all []cache.Probe) {
	for _, name := range []string{r.Pairs, r.Cells} {
		if name != "" {
			all = append(all, cache.Probe{Path: options.Absolute(o.Path(name)), Follow: true})
		}
	}
	return all
}

// call opens the project for a call, which closes it, and records the inputs and the named files.
func (w *Watch) call(ctx context.Context, o Options, access Access, named []cache.Probe, do func(*freshness) error) error {
	var before []cache.Sighting // of the named files, which the call reads at an unknown time
	for _, p := range named {
		before = append(before, p.Sight())
	}
	w.inputs, w.config = &watched{}, nil
	f, err := openChanged(ctx, o, access)
	if err == nil {
		err = do(f)
		w.config = f.addTo(w.inputs)
	} else {
		w.readInvalid(err)
	}
	w.inputs.named = w.inputs.take(before)
	return err
}

// readInvalid records the inputs of a project that could not be opened, by loading its configuration once more.
func (w *Watch) readInvalid(opened error) {
	w.inputs.own = []string{options.Absolute(w.options.StateDir())}
	began := time.Now()
	cfg, diags := lang.Load(w.options.Lang())
	w.inputs.see(partition.InputSightings(cfg.Inputs, began))
	var mistakes diag.List
	if errors.As(opened, &mistakes) && !diags.HasErrors() { // mended meanwhile
		w.inputs.changed = options.Absolute(w.options.ProjectDir())
	}
}

// addTo adds the inputs that the project has read so far, and returns the digest of its configuration, or nil.
func (f *freshness) addTo(in *watched) (config []byte) {
	in.own = []string{f.call.state, f.call.lockPath()}
	if dir, err := f.call.options.CacheDir(f.call.Config); err == nil {
		in.own = append(in.own, dir)
	}
	for _, e := range f.call.Config.Exports {
		in.own = append(in.own, e.Path)
	}
	earlier := func(encoded []byte) {
		if s, err := cache.DecodeSnapshot(encoded); err == nil {
			in.snapshots = append(in.snapshots, s)
		}
	}
	in.see(append(slices.Clone(f.call.inputs), f.call.trace.All()...))
	if f.call.evaluated {
		if content, err := lang.Archive(f.call.Config); err == nil {
			sum := sha256.Sum256(content)
			config = sum[:]
		}
	} else {
		config = f.index.Config
		earlier(f.index.Inputs)
	}
	for _, s := range f.index.Shared {
		if !f.changed[s.Addr] {
			earlier(s.Snapshot)
		}
	}
	for _, part := range f.freshParts() {
		earlier(part.facts.Snapshot)
	}
	return config
}

// Wait waits until another call could have a new result, and returns immediately if something changed during
// the last one. It merges a burst of changes. The error is the cause that ended ctx.
func (w *Watch) Wait(ctx context.Context) (Change, error) {
	for {
		path, err := w.inputs.wait(func(d time.Duration) error { return retry.Sleep(ctx, d) })
		if err != nil {
			return Change{}, err
		}
		if w.again(ctx) && ctx.Err() == nil {
			return Change{Path: path, Run: path == w.latest()}, nil
		}
	}
}

// works reports whether a run would do anything: execute nodes, use another configuration, or fail for another
// reason. Otherwise the existing answers are for the current inputs.
func (w *Watch) works(ctx context.Context, r Request) bool {
	o, was, fresh := w.options, w.config, false
	o.Notify = nil // the run notifies
	failed := w.call(ctx, o, Reading, r.files(&o), func(f *freshness) (err error) {
		defer f.call.close()
		fresh, err = f.nothingNew(ctx, r, w.lastEnds, w.shown)
		return err
	})
	if failed != nil || w.failed != "" {
		return failed == nil || reason(failed) != w.failed
	}
	return !fresh || w.config == nil || !bytes.Equal(was, w.config)
}

// reason returns the full text of an error.
func reason(err error) string {
	var mistakes diag.List
	if errors.As(err, &mistakes) {
		if all, err := json.Marshal(mistakes); err == nil {
			return string(all)
		}
	}
	return err.Error()
}

// nodeEnds maps nodes to their keys or, if they had none, to their messages.
type nodeEnds map[string]string

// Emit implements event.Sink.
func (m nodeEnds) Emit(e event.Event) {
	if done, ok := e.(event.NodeDone); ok {
		m[done.Addr] = cmp.Or(done.Key, done.Message)
	}
}

// shownParts maps partitions to the result files that a run showed.
type shownParts map[partRefKey]partition.Name

func (f *freshness) shownParts() shownParts {
	shown := shownParts{}
	for _, part := range f.freshParts() {
		shown[partRefKey{part.Problem, part.First}] = part.File
	}
	return shown
}

// nothingNew reports whether a run would show the same as the last one: it would execute no requested node,
// except for nodes that failed in the last run with the same key and their dependents, and serve verdicts with
// the same keys.
func (f *freshness) nothingNew(ctx context.Context, r Request, did map[string]string, shown shownParts) (bool, error) {
	g, err := f.prepare(ctx, r)
	if err != nil {
		return false, err
	}
	keys := shownKeys{files: f.call.partitions, lastEnds: did, shown: shown, read: map[partition.Name]map[string]string{}}
	fresh := g.project.fresh
	for _, part := range fresh.freshParts() {
		if shown[partRefKey{part.Problem, part.First}] == part.File {
			continue
		}
		rows, err := f.call.partitions.Rows(part.File) // from a run of another process
		if err != nil || slices.ContainsFunc(rows, func(row graph.Row) bool {
			return slices.Contains(selection.Graders, row.Kind) && !keys.wasShown(part, row.Addr, row.Key.String())
		}) {
			return false, nil
		}
	}
	x, err := g.decide(ctx, false)
	if err != nil {
		return false, err
	}
	fruitless := map[graph.ID]bool{}
	for _, id := range x.rep.Nodes {
		n, st := g.project.Plan.Graph.Node(id), x.rep.Status(id)
		if st.State == event.Cached {
			if at, ok := fresh.partOf(n.Label("problem"), n.Label("solution")); ok && slices.Contains(selection.Graders, n.Kind) && !keys.wasShown(&fresh.parts[at], n.Addr, keyOf(st)) {
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

// shownKeys returns the keys of answers that the last run showed.
type shownKeys struct {
	files    partition.Store
	lastEnds map[string]string
	shown    shownParts
	read     map[partition.Name]map[string]string // keys in the files of partitions that were served as a whole
}

// wasShown reports whether a node of a partition was shown with a key.
func (k *shownKeys) wasShown(part *partState, addr, key string) bool {
	if was, ok := k.lastEnds[addr]; ok {
		return was == key
	}
	name := k.shown[partRefKey{part.Problem, part.First}]
	if k.read[name] == nil {
		k.read[name] = map[string]string{}
		rows, _ := k.files.Rows(name) // without rows, another call shows the result
		for i := range rows {
			k.read[name][rows[i].Addr] = rows[i].Key.String()
		}
	}
	return k.read[name][addr] == key
}
