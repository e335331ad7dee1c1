package modeltest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Network is a network in memory with one server on it, at any address. In a bubble of
// testing/synctest it takes no time.
type Network struct {
	http.Transport
	server http.Server
	serves sync.WaitGroup
}

// Start begins to serve.
func Start(handler http.Handler) *Network {
	l := &listener{make(chan net.Conn), make(chan struct{}), sync.Once{}}
	n := &Network{server: http.Server{Handler: handler}}
	n.MaxIdleConnsPerHost = 1000
	n.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		here, there := net.Pipe()
		select {
		case l.conns <- there:
			return here, nil
		case <-l.closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	n.serves.Go(func() { n.server.Serve(l) })
	return n
}

// Stop ends everything that Start began.
func (n *Network) Stop() {
	n.CloseIdleConnections()
	n.server.Close()
	n.serves.Wait()
}

type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return memory{} }

type memory struct{}

func (memory) Network() string { return "memory" }
func (memory) String() string  { return "memory" }
