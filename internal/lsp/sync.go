package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/options"
)

func (s *server) opened(p didOpen) error {
	s.put(newDocument(p.TextDocument.URI, p.TextDocument.Version, []byte(p.TextDocument.Text)))
	s.look(p.TextDocument.URI)
	return nil
}

func (s *server) changed(p didChange) error {
	s.mu.Lock()
	d := s.open[p.TextDocument.URI]
	s.mu.Unlock()
	if d == nil {
		return fmt.Errorf("%s was changed but is not open", p.TextDocument.URI)
	}
	for _, change := range p.ContentChanges {
		d = d.applyChange(p.TextDocument.Version, change)
	}
	s.put(d)
	s.look(d.uri)
	return nil
}

func (s *server) saved(p ofDocument) error {
	s.renew()
	s.look(p.TextDocument.URI)
	return nil
}

func (s *server) closed(p ofDocument) error {
	s.mu.Lock()
	delete(s.open, p.TextDocument.URI)
	s.next()
	s.mu.Unlock()
	s.look(p.TextDocument.URI)
	return nil
}

// touched handles a notification about files that others wrote.
func (s *server) touched(p struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}) error {
	seen := false
	for _, c := range p.Changes {
		if isRecord(pathOf(c.URI)) {
			continue
		}
		if !seen {
			s.renew()
			seen = true
		}
		s.look(c.URI)
	}
	return nil
}

// isRecord reports whether a file is part of a directory that runs and git write all the time.
func isRecord(path string) bool {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return slices.Contains(parts, ".git") || slices.Contains(parts, options.StateName)
}

func (s *server) put(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[d.uri] = d
	s.next()
}

// renew invalidates all data that was read from disk.
func (s *server) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next()
	s.renewed++
}

// next begins another version of the texts. mu is held.
func (s *server) next() {
	s.outdate()
	s.version++
	s.latest, s.outdate = context.WithCancel(s.ctx)
}

// look schedules diagnostics of the project of a file, if any.
func (s *server) look(uri string) {
	if path := pathOf(uri); path != "" {
		if p := s.projectOf(path); p != nil {
			p.lookAtTexts()
		}
	}
}
