package worker

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Access contains the data that a client needs to reach a server.
type Access struct {
	Token string `json:"token"`
	// Certificate is the SHA-256 of the server's certificate in DER.
	Certificate [sha256.Size]byte `json:"certificate"`
}

// ClientOptions configures a Client.
type ClientOptions struct {
	Access
	// Dial connects to the server.
	Dial func(ctx context.Context) (net.Conn, error)
	// Unreachable is called after each failed attempt to reach the server. An error ends the wait, and is
	// returned to the caller. It can be nil.
	Unreachable func(ctx context.Context, err error) error
	// Patience limits how long a server can be unreachable; 0 means two minutes. Beyond it the machine counts
	// as lost.
	Patience time.Duration
	// Beat is the interval of heartbeats; 0 means ten seconds.
	Beat time.Duration
}

// Client speaks to one server. Its methods are safe for concurrent use.
type Client struct {
	store     cache.Store
	opt       ClientOptions
	id        string
	http      *http.Client
	attached  attachAnswer
	connected bool            // Connect has returned
	life      context.Context // until Close
	stop      context.CancelFunc
	sender    *cache.Sender
	beating   sync.WaitGroup

	mu      sync.Mutex
	sent    int64 // bytes of blobs
	lostErr error // why the server counts as lost; nil if it does not
}

// Connect attaches to a server. From then on, sessions that another client left can be opened, and that
// client has no access.
func Connect(ctx context.Context, store cache.Store, o ClientOptions) (*Client, error) {
	if o.Patience == 0 {
		o.Patience = 2 * time.Minute
	}
	if o.Beat == 0 {
		o.Beat = 10 * time.Second
	}
	c := &Client{store: store, opt: o, id: rand.Text()}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx) },
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true, VerifyConnection: o.verifyPinned, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}},
		TLSHandshakeTimeout: 30 * time.Second,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}}
	if err := c.ask(ctx, pathAttach, attachRequest{Protocol}, &c.attached); err != nil {
		c.http.CloseIdleConnections()
		return nil, err
	}
	c.connected = true
	c.life, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.sender = cache.NewSender(server{c}, math.MaxInt)
	c.sender.SendEmpty = true
	c.beating.Go(func() { c.beat(c.life) })
	return c, nil
}

// verifyPinned accepts only the known certificate. It does not verify a name: the server has none.
func (o *Access) verifyPinned(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the worker sent no certificate")
	}
	sum := sha256.Sum256(state.PeerCertificates[0].Raw)
	if subtle.ConstantTimeCompare(sum[:], o.Certificate[:]) != 1 {
		return errWrongCertificate
	}
	return nil
}

var errWrongCertificate = errors.New("the certificate is not that of the worker")

// beat sends heartbeats to the server.
func (c *Client) beat(ctx context.Context) {
	tick := time.NewTicker(c.opt.Beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.sendBody(ctx, http.MethodPost, pathAsk, encode(askRequest{What: askAlive}), func(*http.Response) error { return nil }) // other requests report the error
		case <-ctx.Done():
			return
		}
	}
}

// Close ends the connection. Sessions should be closed by then.
func (c *Client) Close() error {
	c.stop()
	c.beating.Wait()
	c.http.CloseIdleConnections()
	return nil
}

// Orphaned reports whether an earlier client left a session that the spec opens.
func (c *Client) Orphaned(spec backend.Spec) bool {
	return len(c.attached.Orphans) > 0 && slices.Contains(c.attached.Orphans, sha256.Sum256(encode(openRequest{Spec: spec})))
}

// Sent returns how many bytes of blobs were uploaded.
func (c *Client) Sent() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// Gone returns the error of all requests to a server that counts as lost, a *backend.PreemptedError, or nil
// if it does not.
func (c *Client) Gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lostErr
}

func (c *Client) lose(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lostErr == nil && c.connected {
		c.lostErr = err
	}
	return err
}

// ask sends a request whose answer is one value.
func (c *Client) ask(ctx context.Context, path string, request, answer any) error {
	return c.repeat(ctx, http.MethodPost, path, encode(request), func(r *http.Response) error {
		return readJSON(r.Body, answer)
	})
}

// repeat repeats a request until it is answered, or the server counts as lost. Requests can arrive more than
// once, so they must be idempotent.
func (c *Client) repeat(ctx context.Context, method, path string, body []byte, read func(*http.Response) error) error {
	return c.persist(ctx, func() error { return c.sendBody(ctx, method, path, body, read) })
}

// persist repeats an attempt until its error is not about the connection.
func (c *Client) persist(ctx context.Context, try func() error) error {
	broken := retry.Tries{Patience: retry.Patience{For: c.opt.Patience, Pause: 50 * time.Millisecond, Longest: 5 * time.Second}}
	for {
		if lost := c.Gone(); lost != nil {
			return lost
		}
		err := try()
		if errors.Is(err, errRestarted) {
			return c.lose(err)
		}
		if cut := (*cutError)(nil); !errors.As(err, &cut) {
			return err
		} else if cut.progress {
			broken.Progress()
		}
		if cause := context.Cause(ctx); cause != nil {
			if !c.connected { // why connecting failed
				return fmt.Errorf("%w (the last error: %w)", cause, err)
			}
			return cause
		}
		if errors.Is(err, errWrongCertificate) {
			if c.connected { // another server answers at the address
				return c.lose(&backend.PreemptedError{Err: err})
			}
			return err
		}
		if c.opt.Unreachable != nil {
			if final := c.opt.Unreachable(ctx, err); final != nil {
				if gone := (*backend.PreemptedError)(nil); errors.As(final, &gone) {
					c.lose(final)
				}
				return final
			}
		}
		switch gaveUp := broken.Wait(ctx, err); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case gaveUp != nil:
			return c.lose(&backend.PreemptedError{Err: fmt.Errorf("no connection for %v: %w", c.opt.Patience, err)})
		}
	}
}

// cutError means that the connection failed during a request.
type cutError struct {
	err      error
	progress bool // new data arrived before that
}

func (e *cutError) Error() string { return fmt.Sprintf("talking to the worker: %v", e.err) }
func (e *cutError) Unwrap() error { return e.err }

func (c *Client) sendBody(ctx context.Context, method, path string, body []byte, read func(*http.Response) error) error {
	return c.send(ctx, method, path, bytes.NewReader(body), read)
}

func (c *Client) send(ctx context.Context, method, path string, body io.Reader, read func(*http.Response) error) error {
	request, err := http.NewRequestWithContext(ctx, method, "https://worker"+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.opt.Token)
	request.Header.Set(clientHeader, c.id)
	response, err := c.http.Do(request)
	if err != nil {
		return &cutError{err: err}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var f Failure
		if err := readJSON(response.Body, &f); err != nil {
			return &cutError{err: fmt.Errorf("%s: %w", response.Status, err)}
		}
		return f.Err()
	}
	return read(response)
}
