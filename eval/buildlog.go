package eval

import (
	"github.com/fevalgraph/fevalgraph/cache/buildlog"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/graph"
)

// openLog opens the build log for the nodes that the engine decides about: with few of
// many, most of the log is not read.
func (p *Project) openLog() (err error) {
	path := options.BuildLog(p.state)
	addrs := []string{}
	for id := range graph.ID(p.Plan.Graph.Len()) {
		if n := p.Plan.Graph.Node(id); n.Pinned == nil {
			addrs = append(addrs, n.Addr)
		}
	}
	if len(addrs) == p.Plan.Graph.Len() {
		addrs = nil // all of it
	}
	if p.log != nil { // of an earlier compilation
		if err := p.log.Close(); err != nil {
			return exit.With(exit.NotJudged, err)
		}
	}
	if p.access == Reading {
		if p.log, err = buildlog.ReadOf(path, p.place.Key(path), addrs); err != nil {
			return exit.With(exit.NotJudged, err)
		}
		p.noteForeignLog(path)
		return nil
	}
	if p.log, err = buildlog.OpenOf(path, p.place.Key(path), addrs); options.IsDenied(err) {
		return exit.With(exit.Usage, options.HintStateDir(err))
	} else if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	p.noteForeignLog(path)
	if n := p.log.Dropped(); n > 0 {
		p.options.Note(options.LogDamaged{Dropped: n})
	}
	return nil
}

// noteForeignLog reports a log that has entries of others.
func (p *Project) noteForeignLog(path string) {
	if p.log.Foreign() > 0 {
		p.place.Foreign(path)
	}
}
