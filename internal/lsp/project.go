package lsp

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// project is a configuration with a file that the client has open.
type project struct {
	s       *server
	options eval.Options

	mu        sync.Mutex       // guards all below; an analysis is not safe for concurrent use
	version   int              // of the texts that current was made of
	current   *lang.Analysis   // nil before the first
	whole     *lang.Analysis   // the last one with values
	findings  diag.List        // of validate, on current
	imports   validate.Imports // by files as they were at renewed
	renewed   int
	published map[string]bool // URIs with findings

	texts delayedAction
}

// projectOf returns the project of a file: that of the nearest directory with a configuration. Without one,
// a file with the name of a configuration is a separate project; for other files, it returns nil.
func (s *server) projectOf(path string) *project {
	o := s.options.Project
	o.Dir, o.File, o.Notify = filepath.Dir(path), "", nil
	// Only the trust that `fevalgraph trust` recorded counts. A flag or variable would trust any project
	// that the user opens.
	o.Trusted = false
	key := path
	if dir, found := options.FindProject(o.Dir); found {
		o.Dir, key = dir, dir
	} else if name := filepath.Base(path); name == lang.MainFile || strings.HasSuffix(name, lang.SiblingSuffix) {
		o.File = name
	} else {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.projects[key] == nil {
		s.projects[key] = &project{s: s, options: o, published: map[string]bool{}}
	}
	return s.projects[key]
}

// analysis returns the analysis of the texts of a request. The caller must hold mu while it uses the result.
func (p *project) analysis(now *snapshot) *lang.Analysis {
	a, _ := p.analyze(context.Background(), now)
	return a
}

// analyze is like analysis, but ends with ctx.
func (p *project) analyze(ctx context.Context, now *snapshot) (*lang.Analysis, error) {
	if p.current != nil && p.version == now.version {
		return p.current, nil
	}
	if p.renewed != now.renewed {
		p.imports, p.renewed = validate.Imports{}, now.renewed
	}
	o := p.options.Lang()
	o.Overlay = now.overlay()
	a, err := lang.Analyze(ctx, o)
	if err != nil {
		return nil, err
	}
	p.current, p.version = a, now.version
	p.findings = validate.Findings(p.current.Config(), p.current.Findings(), &p.imports)
	if p.current.Whole() {
		p.whole = p.current
	}
	return p.current, nil
}

// values returns the latest analysis that has values: the current one, or one of the texts before a syntax
// error, whose positions can be out of date.
func (p *project) values(now *snapshot) *lang.Analysis {
	if a := p.analysis(now); a.Whole() || p.whole == nil {
		return a
	}
	return p.whole
}

// delayedAction is an action that runs after a pause, once for all requests until then.
type delayedAction struct {
	mu      sync.Mutex
	pending bool
}

func (d *delayedAction) schedule(pause time.Duration, s *server, do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending {
		return
	}
	d.pending = true
	time.AfterFunc(pause, func() {
		d.mu.Lock()
		d.pending = false
		d.mu.Unlock()
		s.spawn(func() {
			if _, err := s.guard("diagnostics", func() (any, error) { do(); return nil, nil }); err != nil {
				s.logError(err)
			}
		})
	})
}

// lookAtTexts schedules publishing the diagnostics of the texts, or clearing those of a project that the client has
// closed.
func (p *project) lookAtTexts() {
	p.texts.schedule(p.s.options.Pause, p.s, func() {
		if !p.isOpen() {
			p.forget()
			return
		}
		p.publish(p.s.snapshot())
	})
}

// isOpen reports whether the client has a file of the project open.
func (p *project) isOpen() bool {
	for _, d := range p.s.snapshot().open {
		if d.path != "" && p.s.projectOf(d.path) == p {
			return true
		}
	}
	return false
}

// forget clears the published diagnostics of a project that the client has closed, and frees its memory.
func (p *project) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for uri := range p.published {
		p.s.publish(publishDiagnostics{URI: uri, Diagnostics: []diagnostic{}})
	}
	clear(p.published)
	p.current, p.whole, p.findings, p.imports = nil, nil, nil, validate.Imports{}
}
