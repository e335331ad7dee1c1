package lsp

import "fmt"

func (s *server) opened(p didOpen) error {
	s.put(newDocument(p.TextDocument.URI, p.TextDocument.Version, []byte(p.TextDocument.Text)))
	s.look(p.TextDocument.URI, true)
	return nil
}

func (s *server) changed(p didChange) error {
	s.mu.Lock()
	d := s.open[p.TextDocument.URI]
	s.mu.Unlock()
	if d == nil {
		return fmt.Errorf("%s was changed and is not open", p.TextDocument.URI)
	}
	for _, change := range p.ContentChanges {
		d = d.edited(p.TextDocument.Version, change)
	}
	s.put(d)
	s.look(d.uri, false)
	return nil
}

func (s *server) saved(p ofDocument) error {
	s.renew()
	s.look(p.TextDocument.URI, true)
	return nil
}

func (s *server) closed(p ofDocument) error {
	s.mu.Lock()
	delete(s.open, p.TextDocument.URI)
	s.version++
	s.mu.Unlock()
	s.look(p.TextDocument.URI, true)
	return nil
}

// touched hears of files that were written by others.
func (s *server) touched(p struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}) error {
	s.renew()
	for _, c := range p.Changes {
		s.look(c.URI, true)
	}
	return nil
}

func (s *server) put(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[d.uri] = d
	s.version++
}

// renew makes what was read of the disk void.
func (s *server) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
}

// look has diagnostics of the project of a file looked for in a moment, with verdicts if what
// is on disk may have changed.
func (s *server) look(uri string, disk bool) {
	path := pathOf(uri)
	if path == "" {
		return
	}
	s.projectOf(path).schedule(disk)
}
