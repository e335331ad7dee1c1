package lsp

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// project is a configuration of which the client has a file open.
type project struct {
	s       *server
	options eval.Options

	mu        sync.Mutex     // of all below; an analysis is for one goroutine at a time
	version   int            // of the texts that current was made of
	current   *lang.Analysis // nil before the first
	whole     *lang.Analysis // the last one with values
	findings  diag.List      // of validate, on current
	published map[string]bool

	verdicts verdicts

	pending  sync.Mutex // of all below
	timer    *time.Timer
	withDisk bool // what is pending is about what is on disk, too
}

// projectOf is the project of a file: that of the nearest directory with a configuration, or
// the file itself where there is none.
func (s *server) projectOf(path string) *project {
	o := s.options.Project
	o.Dir, o.File, o.Notify = filepath.Dir(path), "", nil
	key := path
	if dir, found := options.FindProject(o.Dir); found {
		o.Dir, key = dir, dir
	} else {
		o.File = filepath.Base(path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.projects[key] == nil {
		s.projects[key] = &project{s: s, options: o, published: map[string]bool{}}
	}
	return s.projects[key]
}

// analysis is that of the texts of a request. mu is held as long as it is used.
func (p *project) analysis(now *snapshot) *lang.Analysis {
	if p.current != nil && p.version == now.version {
		return p.current
	}
	o := p.options.Lang()
	o.Overlay = now.overlay()
	p.current, p.version = lang.Analyze(o), now.version
	p.findings = validate.Findings(p.current.Config(), p.current.Findings())
	if p.current.Whole() {
		p.whole = p.current
	}
	return p.current
}

// values is the analysis that has values: the current one, or that of the texts before a
// syntax error. Places in it may be elsewhere now.
func (p *project) values(now *snapshot) *lang.Analysis {
	if a := p.analysis(now); a.Whole() || p.whole == nil {
		return a
	}
	return p.whole
}

// schedule has diagnostics looked for in a moment, if that is not pending anyway.
func (p *project) schedule(disk bool) {
	p.pending.Lock()
	defer p.pending.Unlock()
	p.withDisk = p.withDisk || disk
	if p.timer != nil {
		return
	}
	p.timer = time.AfterFunc(p.s.options.Pause, func() { p.s.spawn(p.due) })
}

// due is what was scheduled.
func (p *project) due() {
	p.pending.Lock()
	disk := p.withDisk
	p.timer, p.withDisk = nil, false
	p.pending.Unlock()
	if _, err := p.s.guard("diagnostics", func() (any, error) { return nil, p.refresh(p.s.ctx, disk) }); err != nil && p.s.ctx.Err() == nil {
		p.s.say(err)
	}
}

// refresh publishes the diagnostics of the texts as they are now.
func (p *project) refresh(ctx context.Context, disk bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := p.s.snapshot()
	p.publish(now)
	if !disk {
		return nil
	}
	p.publishFailures(ctx, now)
	p.s.mu.Lock()
	client := p.s.client.Workspace
	p.s.mu.Unlock()
	if client.CodeLens.RefreshSupport {
		p.s.call("workspace/codeLens/refresh", nil)
	}
	return nil
}
