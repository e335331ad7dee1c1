package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// pause is the interval at which the server polls a run for events.
const pause = 500 * time.Millisecond

// Source provides the data of a server. Its methods are called concurrently.
type Source interface {
	// Page calls show with the page of the recorded runs, which is valid until show returns.
	Page(ctx context.Context, show func(*Page) error) error
	// Latest returns the run that began last, which can be running, or nil.
	Latest() (*event.Run, error)
}

// Server shows runs to a browser on this machine, and follows the running one.
type Server struct {
	source   Source
	listener net.Listener
	token    string

	mu    sync.Mutex
	pages map[string]string // data of the last document, as scripts
}

// NewServer listens on a port of 127.0.0.1; 0 chooses a free one.
func NewServer(source Source, port int) (*Server, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err != nil {
		return nil, fmt.Errorf("serving a report: %w", err)
	}
	return &Server{source: source, listener: l, token: rand.Text(), pages: map[string]string{}}, nil
}

// URL returns the address for a browser. It contains the token that permits reading everything that the server
// shows.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" + s.token + "/" }

// Serve serves until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving a report: %w", err)
	}
	return nil
}

// ServeHTTP serves requests that carry the token, our Host header and a same-origin Origin: pages of other
// sites can make a browser send requests here.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case r.Host != "127.0.0.1:"+port && r.Host != "localhost:"+port:
		http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
		return
	case r.Method != http.MethodGet, origin != "" && origin != "http://"+r.Host, site == "cross-site", site == "same-site":
		http.Error(w, "not from there", http.StatusForbidden)
		return
	}
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.NotFound(w, r)
		return
	}
	switch {
	case path == "":
		s.document(w, r)
	case path == "live":
		s.follow(w, r)
	default:
		s.script(w, r, path)
	}
}

func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	pages, content := map[string]string{}, ""
	render := func(p *Page) error {
		x, err := p.index(func(id, data string) error { pages[id] = scriptOf(id, data); return nil })
		if err == nil {
			x.Live = true
			content, err = x.document("data", nil)
		}
		return err
	}
	err := s.source.Page(r.Context(), render)
	if errors.Is(err, event.ErrNoRuns) || errors.Is(err, ErrNoResults) { // the first run may still be running
		err = render(&Page{Project: "no results yet", Runs: []Run{{Results: &report.Results{Schema: report.Schema}}}})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	s.pages = pages
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write([]byte(content))
}

func (s *Server) script(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	content, ok := s.pages[strings.TrimSuffix(strings.TrimPrefix(path, "data/"), scriptSuffix)]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/javascript")
	w.Write([]byte(content))
}

// follow sends the progress of the latest run after each change, as server-sent events, until the browser
// disconnects.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	var state *live
	place, out := int64(0), http.NewResponseController(w)
	for {
		run, err := s.source.Latest()
		if err != nil {
			return
		}
		changed := false
		if run != nil {
			if state == nil || state.Run != run.ID {
				state, place, changed = newLive(run.ID), 0, true
			}
			for {
				next, err := run.Since(place, state.add)
				if err != nil || next == place { // no events recorded yet
					break
				}
				place, changed = next, true
			}
		}
		if changed {
			content, err := json.Marshal(state.snapshot())
			if err == nil {
				_, err = fmt.Fprintf(w, "data: %s\n\n", content)
			}
			if err != nil || out.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(pause):
		}
	}
}
