package gojudge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Server is a go-judge, which Sandboxes share. Methods are safe for concurrent use.
type Server struct {
	// Address or requested program, for messages.
	name    string
	connect func(context.Context) (*connection, error)
	opt     *Process // of a server to start; nil for a running server

	turn   chan struct{} // capacity 1; guards the fields below
	conn   *connection   // nil before the first use and after a loss
	closed bool
}

// connection is a server that has identified itself as go-judge.
type connection struct {
	*client
	name        string
	about       *wireVersion
	store       cache.Store
	destination destination
	uploader    *uploader
	sealed      bool   // programs cannot write to files of the destination
	dir         string // of the files of a server that this run started
	process     *process
}

// Room for blobs that are unused at the moment.
const (
	uploadRoom = 512 << 20
	mirrorRoom = 1 << 30
)

func newServer(name string) *Server {
	s := &Server{name: name, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// Connect returns the server at endpoint, such as "http://127.0.0.1:5050". It is contacted on first use.
// token is its -auth-token; "" means none. Blobs come from store.
func Connect(store cache.Store, endpoint, token string) *Server {
	s := newServer("go-judge at " + endpoint)
	s.connect = func(ctx context.Context) (*connection, error) {
		c := newClient(endpoint, token)
		about, err := c.version(ctx)
		if err != nil {
			c.close()
			return nil, err
		}
		destination := uploads{c}
		return &connection{client: c, name: s.name, about: about, store: store, destination: destination, uploader: newUploader(destination, store, uploadRoom)}, nil
	}
	return s
}

// use returns the connection, and connects first if necessary.
func (s *Server) use(ctx context.Context) (*connection, error) {
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.give()
	if s.closed {
		return nil, fmt.Errorf("%s: already closed", s.name)
	}
	if s.conn != nil && s.conn.process.running() {
		return s.conn, nil
	}
	s.drop()
	c, err := s.connect(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, s.explain(err)
	}
	s.conn = c
	return c, nil
}

func (s *Server) acquire(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) give() { s.turn <- struct{}{} }

// drop forgets a server that has ended by itself.
func (s *Server) drop() {
	if s.conn != nil {
		s.conn.client.close()
		s.conn.process.stop()
		s.conn = nil
	}
}

// explain adds the server's name to an error, unless it is about the program to start.
func (s *Server) explain(err error) error {
	if _, says := err.(*backend.ToolError); says {
		return err
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// Close removes uploaded files, or ends a server that this run started. It does nothing for a server that
// was never used. Sandboxes must not be used afterwards.
func (s *Server) Close() error {
	<-s.turn
	defer s.give()
	s.closed = true
	c := s.conn
	if c == nil {
		return nil
	}
	s.conn = nil
	if c.process == nil {
		c.uploader.clear()
		c.client.close()
		return nil
	}
	c.client.close()
	return c.process.stop()
}

// Version returns the server's version, such as "v1.12.2". It starts a server that this run manages.
func (s *Server) Version(ctx context.Context) (string, error) {
	c, err := s.use(ctx)
	if err != nil {
		return "", err
	}
	return c.about.BuildVersion, nil
}

// resultPatience limits how long, in addition to its limits, a request can take, since it waits in the
// server's queue, possibly with requests of other clients.
const resultPatience = 10 * time.Minute

var errNoAnswer = errors.New("it took the request and did not answer")
