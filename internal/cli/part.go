package cli

import (
	"errors"
	"maps"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// When source files and nothing else changed since a run that is remembered, the
// graph is the same, and only the cells that depend on those files can come to
// something else. So only these, and the suites that they are in, are compiled
// and decided about; the others' conclusions are taken from the memory.

// part is what a run of a part knows of the whole.
type part struct {
	of      *memory
	files   []string // that changed
	sources *sources
	known   *conclusions  // of the run of everything
	table   *report.Table // of what the last run came to
	cells   map[int]bool  // that are compiled
	graph   *plan.Part

	// What everything, and each of the cells, came to before; nil for commands
	// that only read.
	results *cellResults
	were    []report.CellChange // the cells as New

	// What nodes beside those of the part save; see event.RunEnd.
	savedBytes   int64
	savedSeconds float64
}

// maxFiles is how many source files may have changed for a run of a part. With
// more of them a run in full costs hardly more.
const maxFiles = 1000

// maxParts is how many runs of a part may follow one another before everything is
// decided anew: the memory keeps what only earlier ones depended on.
const maxParts = 200

// partOf prepares a run of a part; nil when it has to be one in full.
func (p *project) partOf(m *memory, files []string) *part {
	whole, ok := p.knownPart(m)
	if !ok {
		return nil
	}
	cells, ok := whole.sources.affected(files)
	if !ok || len(cells) == 0 || len(cells) > len(whole.sources.Places)/2 {
		return nil
	}
	whole.files, whole.cells = files, cells
	whole.graph = &plan.Part{
		Wanted:  func(cell int) bool { return cells[cell] },
		Outputs: whole.outputs,
	}
	return whole
}

// knownPart is a part of which no cell is decided about; ok is false when what
// the cells came to is not known.
func (p *project) knownPart(m *memory) (whole *part, ok bool) {
	if m.Conclusions == nil {
		return nil, false
	}
	sources, err := readSources(p.state, m.Sources)
	if err != nil {
		return nil, false
	}
	known, err := readConclusions(p.state, m.Conclusions)
	if err != nil || len(known.Outputs) != len(sources.Places) {
		return nil, false
	}
	table, drawn := known.Table, known.Drawn
	if m.since != nil {
		table, drawn = m.since.decided.Table, m.since.decided.Drawn
	}
	if drawn < 0 || drawn > len(m.Shown) {
		return nil, false
	}
	table.Text = m.Shown[:drawn]
	return &part{of: m, sources: sources, known: known, table: table}, true
}

// outputs are those of the node of a cell that nothing is decided about.
func (w *part) outputs(cell int) []cache.Output {
	if w.of.since != nil {
		if outputs, ok := w.of.since.decided.outputs(cell); ok {
			return outputs
		}
	}
	return w.known.Outputs[cell]
}

// divisible reports whether what happens in some cells is no business of the
// others.
func divisible(cfg *lang.Config) bool {
	return !slices.ContainsFunc(cfg.Exports, ofGraph) && !slices.ContainsFunc(cfg.Suites, func(s *lang.Suite) bool { return s.StopAfter > 0 })
}

// openPart opens what a run of a part needs beside what recall opened, when some
// files changed; nil when it has to be one in full.
func (p *project) openPart(m *memory, files []string) *part {
	if m.since != nil && m.since.Parts >= maxParts {
		return nil
	}
	var cfg *lang.Config
	var reading errgroup.Group // what is large is read side by side
	reading.Go(func() (err error) {
		cfg, err = p.app.configuration(p.state, m.unchanged)
		return err
	})
	whole := p.partOf(m, files)
	if err := reading.Wait(); err != nil || whole == nil || !p.openCells(cfg, whole.graph) {
		return nil
	}
	p.part = whole
	bytes, seconds := p.savedBefore()
	whole.savedBytes, whole.savedSeconds = max(0, whole.of.SavedBytes-bytes), max(0, whole.of.SavedSeconds-seconds)
	return whole
}

// openCells compiles some cells of the configuration that is remembered, and reads
// what is known of their nodes. It reports whether it could.
func (p *project) openCells(cfg *lang.Config, some *plan.Part) bool {
	jobs, err := p.app.jobs()
	if err != nil {
		return false
	}
	p.cfg, p.observer = cfg, p.app.observer
	p.state = p.app.stateDir(cfg.Root) // absolute, as what is remembered
	if err := p.openIndex(); err != nil {
		return false
	}
	p.plan, err = plan.CompilePart(cfg, jobs, p.environment(), some)
	if err != nil {
		return false
	}
	decided := []string{}
	for id := range graph.ID(p.plan.Graph.Len()) {
		if n := p.plan.Graph.Node(id); n.Pinned == nil {
			decided = append(decided, n.Addr)
		}
	}
	return p.openLog(decided) == nil
}

// decided are the nodes that the run decides about, and total all that there are.
func (p *project) decided(closure []graph.ID) (decided, total int) {
	if p.part == nil {
		return len(closure), len(closure)
	}
	for _, id := range closure {
		if p.plan.Graph.Node(id).Pinned == nil {
			decided++
		}
	}
	return decided, p.part.of.Nodes
}

// takeOver makes the rest of the whole part of the run's record.
func (p *project) takeOver(recorder *event.Recorder, decided int) error {
	if p.part == nil {
		return nil
	}
	return recorder.Since(event.RunSame{Type: "run.same", As: p.part.of.Run, Nodes: p.part.of.Nodes - decided})
}

// amend adds what a run of a part found out to what is remembered. A run that cannot
// be remembered loses nothing: what is remembered tells which files changed since.
func (p *project) amend(rep *graph.Report, out *outcome, end event.RunEnd) error {
	was := p.part.of
	looks, err := p.observer.looks()
	if err != nil {
		return nil //nolint:nilerr // what is remembered still holds, but for the files that changed
	}
	for _, file := range p.part.files {
		if _, ok := p.observer.files[file]; !ok {
			return nil // it is not read any more
		}
	}
	kept, used, err := p.keptLooks(rep)
	if err != nil {
		return nil //nolint:nilerr // it is gone, which the next run finds
	}
	snapshot, err := was.snapshot.Later(slices.Concat(looks, kept), p.observer.began)
	if err != nil {
		return nil //nolint:nilerr // a file has just been changed
	}
	s := &since{After: was.Salt, Parts: 1, ending: ending{Run: p.run, Exit: end.Exit, Shown: p.said.String(), Used: used}}
	if was.Used.Before(used) {
		s.Used = was.Used
	}
	s.SavedBytes, s.SavedSeconds = served(rep)
	s.SavedBytes, s.SavedSeconds = s.SavedBytes+p.part.savedBytes, s.SavedSeconds+p.part.savedSeconds
	before := decided{}
	if was.since != nil {
		s.Parts, before = was.since.Parts+1, was.since.decided
	}
	s.decided = before.and(slices.Sorted(maps.Keys(p.part.cells)), p.plan.CellOutputs(rep))
	if s.decided.Table, s.decided.Drawn, err = out.drawing(was.Color); err != nil {
		return nil //nolint:nilerr // a result is damaged, which the next run finds
	}
	return s.write(p.state, snapshot)
}

// savedBefore is what the nodes of the part saved in a run to which everything was
// fresh. It is asked before any of them runs.
func (p *project) savedBefore() (bytes int64, seconds float64) {
	for id := range graph.ID(p.plan.Graph.Len()) {
		n := p.plan.Graph.Node(id)
		if n.Pinned != nil {
			continue
		}
		last, _ := p.log.Get(n.Addr)
		for _, o := range last.Outputs {
			bytes += o.Digest.Size
		}
		seconds += last.Seconds
	}
	return bytes, seconds
}

// saved is what a run saved, with what it did not even decide about.
func (p *project) saved(rep *graph.Report) (bytes int64, seconds float64) {
	bytes, seconds = rep.Saved()
	if p.part != nil {
		bytes, seconds = bytes+p.part.savedBytes, seconds+p.part.savedSeconds
	}
	return bytes, seconds
}

// errLostPart says that a run of a part needs what only one in full has.
var errLostPart = errors.New("a result is no longer in the store")

// abandon lets a run in full take the place of one of a part that cannot be.
func (p *project) abandon() error {
	_ = os.Remove(p.unchangedPath()) // it would lead here again
	return p.close()
}
