package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// memorable reports whether everything is fresh after a run, and all that it
// depended on known.
func (p *project) memorable(ctx context.Context, rep *graph.Report, out *outcome, end event.RunEnd) bool {
	o := p.observer
	_, ok := p.store.(*cache.Disk)
	return ok && o != nil && o.sameRoot() && out != nil && answered(rep) && end.Exit <= exitFailed && ctx.Err() == nil && p.certain(rep)
}

// remember writes down a run of everything that is memorable. One that is not
// remembered loses nothing: a memory that is there tells by itself whether it still
// holds.
func (p *project) remember(ctx context.Context, rep *graph.Report, out *outcome, end event.RunEnd) error {
	o, disk := p.observer, p.store.(*cache.Disk)
	salt := newSalt()
	u := &unchanged{Invocation: p.app.invocation(salt), Color: p.app.color(), Salt: salt, Settings: p.cfg.Settings, Store: disk.Dir(),
		Nodes: len(rep.Nodes), ending: ending{Run: p.run, Exit: end.Exit, Shown: p.said.String()}}
	u.SavedBytes, u.SavedSeconds = served(rep)
	u.Env = o.environment(u.Salt)
	looks, err := o.looks()
	if err != nil {
		return nil //nolint:nilerr // a fileset that has changed since
	}
	self, err := os.Executable()
	if err != nil {
		return nil //nolint:nilerr // then nobody knows which program this is
	}
	looks = append(looks, cache.Look{Path: self, Follow: true}, cache.Look{Path: p.locker.path, Follow: true})
	left, err := p.exportLooks()
	if err != nil {
		return nil //nolint:nilerr // somebody else writes there
	}
	for _, e := range p.cfg.Exports {
		if !ofGraph(e) {
			u.Exports = append(u.Exports, exportOf(e))
		}
	}
	kept, used, err := p.keptLooks(rep)
	if err != nil {
		return nil //nolint:nilerr // it is gone, which the next run finds
	}
	u.Used = used
	if u.Backends, err = p.backendAnswers(ctx, rep); err != nil {
		return nil //nolint:nilerr // the next run will say what is wrong with it
	}
	for _, b := range u.Backends {
		if b.Use.Dockerfile != "" {
			looks = append(looks, cache.Look{Path: b.Use.Dockerfile, Follow: true})
		}
	}
	snapshot, err := cache.TakeSnapshot(slices.Concat(looks, kept, left), o.began)
	if err != nil {
		return nil //nolint:nilerr // it has just been changed
	}
	if err := p.rememberCells(u, rep, out); err != nil {
		return nil //nolint:nilerr // as when the memory itself cannot be written
	}
	if err := writeUnchanged(p.unchangedPath(), u, snapshot); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(p.state, sinceFile)) // what is there is about an older record
	return nil
}

// rememberCells writes down what runs of a part need, if there can be any.
func (p *project) rememberCells(u *unchanged, rep *graph.Report, out *outcome) error {
	if !divisible(p.cfg) {
		return nil
	}
	results, err := out.whole()
	if err != nil {
		return err
	}
	sources, ok := p.sources(results)
	if !ok {
		return nil
	}
	known, err := out.conclude(p.plan.CellOutputs(rep), u.Color)
	if err != nil {
		return err
	}
	if sources.Rows, ok = p.statusRows(results, sources.Places); ok {
		if known.Status, err = out.status(sources.Places, u.Color); err != nil {
			return err
		}
		if u.Status, err = writeStatus(p.state, known.Status); err != nil {
			return err
		}
	}
	if u.Sources, err = sources.write(p.state); err != nil {
		return err
	}
	if u.Conclusions, err = known.write(p.state); err != nil {
		return err
	}
	u.Configuration, err = writeConfiguration(p.state, p.cfg)
	return err
}

func (p *project) unchangedPath() string { return filepath.Join(p.state, unchangedFile) }

// keptLooks are the build log and the blobs that results were read from, and used
// is when the oldest of their uses was noted.
func (p *project) keptLooks(rep *graph.Report) (looks []cache.Look, used time.Time, err error) {
	disk := p.store.(*cache.Disk)
	// A use may just have been noted; damage that comes at once is found when
	// the blob is read, and changes nothing about what the results are.
	looks, used = []cache.Look{{Path: filepath.Join(p.state, "buildlog"), Young: true}}, time.Now()
	for _, id := range rep.Nodes {
		if !p.plan.Graph.Node(id).Kept {
			continue
		}
		for _, out := range rep.Status(id).Outputs {
			blob, noted, err := disk.Used(out.Digest)
			if err != nil {
				return nil, used, err
			}
			looks = append(looks, cache.Look{Path: blob, Young: true})
			if noted.Before(used) {
				used = noted
			}
		}
	}
	return looks, used, nil
}

// served is what a run saves to which every node of rep is cached.
func served(rep *graph.Report) (bytes int64, seconds float64) {
	bytes, seconds = rep.Saved()
	for _, id := range rep.Nodes {
		if st := rep.Status(id); st.State != event.Cached {
			seconds += st.Seconds
			for _, o := range st.Outputs {
				bytes += o.Digest.Size
			}
		}
	}
	return bytes, seconds
}

// answered reports whether there is a stored answer for every node now, so that
// the next run would serve all of them.
func answered(rep *graph.Report) bool {
	return !slices.ContainsFunc(rep.Nodes, func(id graph.ID) bool {
		switch rep.Status(id).State {
		case event.Cached, event.Done, event.Timeout:
			return false
		}
		return true
	})
}

// unobserved reports whether there is a node of a kind that may depend on more
// than the observer is told.
func (p *project) unobserved(rep *graph.Report) bool {
	return slices.ContainsFunc(rep.Nodes, func(id graph.ID) bool { return !slices.Contains(observed, p.plan.Graph.Node(id).Kind) })
}

// observed are the kinds of nodes of which the observer is told everything, but
// for what plan.Use tells of backends.
var observed = []string{
	plan.KindMaterialize, plan.KindTests, plan.KindSubmission, plan.KindPytest, plan.KindParse, plan.KindAggregate,
	plan.KindContext, plan.KindImage, plan.KindMount,
	plan.KindTestData, plan.KindChecker, plan.KindInteractor, plan.KindCompile, plan.KindRun, plan.KindCheck, plan.KindInteract,
	plan.KindSubmit, plan.KindScore,
	plan.KindWorkspace, plan.KindCommand, plan.KindEnvironment,
}

// certain reports whether all that the run depended on was seen.
func (p *project) certain(rep *graph.Report) bool {
	if p.part == nil { // of a part, what the whole depends on is remembered already
		for _, in := range p.cfg.Inputs {
			p.observer.note(in.Kind, in.Name)
		}
	}
	return p.observer.doubt == "" && !p.unobserved(rep) && len(p.plan.Cells) > 0
}
