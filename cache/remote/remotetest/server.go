// Package remotetest is a remote cache in this process, over both protocols, for tests: it can be slow, full, down
// and lying. It counts its calls. It can be an engine, too, whose actions run on this machine.
package remotetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Faults are the faults of a server. The zero value has none.
type Faults struct {
	Latency   time.Duration // of each call
	Hang      bool          // no call is answered
	Down      bool          // each call fails
	Full      bool          // each write fails
	Wrong     bool          // other bytes than the requested ones are sent
	Truncated bool          // streams and bodies break off in the middle, once
	Evicts    bool          // blobs are found and then are not there
	Compress  bool          // offers zstd, and compresses nothing itself
	Token     string        // the authorization that all calls must have
	ReadOnly  bool          // no call can write
	Rate      int64         // bytes in a second, of all that is sent; 0 means no limit
}

// Server is a cache.
type Server struct {
	GRPC string // host:port
	HTTP string // URL

	mu      sync.Mutex
	faults  Faults
	blobs   map[string][]byte // by SHA-256
	entries map[string][]byte // ActionResults
	parts   map[string][]byte // of blobs, by resource name
	calls   map[string]int
	broken  map[string]bool // that have been truncated
	paid    time.Time       // until when the rate is used up
	ended   chan struct{}

	engine     Engine // nil executes nothing
	refuses    *status.Status
	operations map[string]*operation
	killed     []string
}

// Test is the part of a testing.TB that a server needs.
type Test interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
}

// Start starts a server that ends with the test.
func Start(t Test) *Server {
	t.Helper()
	s := &Server{blobs: map[string][]byte{}, entries: map[string][]byte{}, parts: map[string][]byte{}, calls: map[string]int{}, broken: map[string]bool{}, operations: map[string]*operation{}, ended: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, ask any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := s.enter(ctx, info.FullMethod); err != nil {
			return nil, err
		}
		answer, err := next(ctx, ask)
		if message, ok := answer.(proto.Message); ok && err == nil {
			s.throttle(ctx, proto.Size(message))
		}
		return answer, err
	}), grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := s.enter(stream.Context(), info.FullMethod); err != nil {
			return err
		}
		return next(srv, stream)
	}))
	service := &service{Server: s}
	execution.RegisterCapabilitiesServer(g, service)
	execution.RegisterActionCacheServer(g, service)
	execution.RegisterContentAddressableStorageServer(g, service)
	bytestream.RegisterByteStreamServer(g, service)
	execution.RegisterExecutionServer(g, service)
	g.RegisterService(&queueState, service)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = g.Serve(listener)
	}()
	web := httptest.NewServer(http.HandlerFunc(s.serveHTTP))
	s.GRPC, s.HTTP = listener.Addr().String(), web.URL
	t.Cleanup(func() {
		close(s.ended)
		g.Stop()
		web.CloseClientConnections()
		web.Close()
		<-served
	})
	return s
}

// Fail makes the server have faults, from the next call on.
func (s *Server) Fail(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Calls returns how often a method, by the end of its name, was called since the last Forget.
func (s *Server) Calls(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, calls := range s.calls {
		if strings.HasSuffix(name, method) {
			n += calls
		}
	}
	return n
}

// Forget begins to count calls again.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.calls)
}

// EachEntry calls f with each entry; what f returns replaces it, and nil removes it.
func (s *Server) EachEntry(f func(id string, e *execution.ActionResult) *execution.ActionResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, content := range s.entries {
		e := new(execution.ActionResult)
		if err := proto.Unmarshal(content, e); err != nil {
			panic(err)
		}
		if e = f(id, e); e == nil {
			delete(s.entries, id)
			continue
		}
		s.entries[id], _ = proto.Marshal(e)
	}
}

// SetEntry stores an entry.
func (s *Server) SetEntry(id string, e *execution.ActionResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[id], _ = proto.Marshal(e)
}

// Holds returns the numbers of entries and blobs.
func (s *Server) Holds() (entries, blobs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries), len(s.blobs)
}

// Blob returns a blob of the server, by its SHA-256.
func (s *Server) Blob(hash string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.blobs[hash]
	return content, ok
}

// Put stores a blob.
func (s *Server) Put(content []byte) *execution.Digest {
	sum := sha256.Sum256(content)
	d := &execution.Digest{Hash: hex.EncodeToString(sum[:]), SizeBytes: int64(len(content))}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[d.Hash] = content
	return d
}

// Damage changes a blob, by its SHA-256.
func (s *Server) Damage(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[hash] = bytes.Clone(s.blobs[hash])
	s.blobs[hash][0] ^= 1
}

// Evict removes all blobs.
func (s *Server) Evict() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.blobs)
}

func (s *Server) now() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// enter begins each call.
func (s *Server) enter(ctx context.Context, method string) error {
	s.mu.Lock()
	s.calls[method]++
	f := s.faults
	s.mu.Unlock()
	pause := f.Latency
	if f.Hang {
		pause = time.Hour
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended:
		return status.Error(codes.Unavailable, "the server ends")
	}
	writes := strings.HasSuffix(method, "Write") || strings.Contains(method, "Update") || strings.HasPrefix(method, "PUT")
	header, _ := metadata.FromIncomingContext(ctx)
	switch {
	case f.Down:
		return status.Error(codes.Unavailable, "out of order")
	case f.Token != "" && strings.Join(header.Get("authorization"), "") != f.Token:
		return status.Error(codes.Unauthenticated, "access denied")
	case f.ReadOnly && writes:
		return status.Error(codes.Unauthenticated, "access denied")
	case f.Full && writes:
		return status.Error(codes.Internal, "no space left on device")
	}
	return nil
}

// throttle waits as long as it takes to send some bytes.
func (s *Server) throttle(ctx context.Context, bytes int) {
	s.mu.Lock()
	if s.faults.Rate == 0 {
		s.mu.Unlock()
		return
	}
	if now := time.Now(); s.paid.Before(now) {
		s.paid = now
	}
	s.paid = s.paid.Add(time.Duration(int64(bytes) * int64(time.Second) / s.faults.Rate))
	until := s.paid
	s.mu.Unlock()
	select {
	case <-time.After(time.Until(until)):
	case <-ctx.Done():
	case <-s.ended:
	}
}

// blob returns what the server sends for a digest.
func (s *Server) blob(hash string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.blobs[hash]
	if hash == hex.EncodeToString(sha256.New().Sum(nil)) {
		return nil, true
	}
	if s.faults.Evicts {
		return nil, false
	}
	if s.faults.Wrong && ok {
		content = append([]byte{content[0] ^ 1}, content[1:]...)
	}
	return content, ok
}

// truncates reports whether an answer is to break off.
func (s *Server) truncates(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.faults.Truncated || s.broken[name] {
		return false
	}
	s.broken[name] = true
	return true
}

func (s *Server) put(hash string, content []byte) error {
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != hash {
		return status.Error(codes.InvalidArgument, "wrong digest")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[hash] = content
	return nil
}

// serveHTTP serves the plain protocol.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := metadata.NewIncomingContext(r.Context(), metadata.Pairs("authorization", r.Header.Get("Authorization")))
	if err := s.enter(ctx, r.Method+" "+strings.Split(r.URL.Path, "/")[1]); err != nil {
		code := http.StatusInternalServerError
		if status.Code(err) == codes.Unauthenticated {
			code = http.StatusUnauthorized
		}
		http.Error(w, status.Convert(err).Message(), code)
		return
	}
	place, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.Method == http.MethodPut {
		content, err := io.ReadAll(r.Body)
		if err == nil && place == "cas" {
			err = s.put(name, content)
		} else if err == nil {
			s.mu.Lock()
			s.entries[name] = content
			s.mu.Unlock()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		return
	}
	s.mu.Lock()
	content, ok := s.entries[name]
	evicts := s.faults.Evicts && r.Method == http.MethodHead
	s.mu.Unlock()
	if place == "cas" {
		if content, ok = s.blob(name); evicts {
			ok = true
		}
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	if r.Method == http.MethodHead {
		return
	}
	s.throttle(ctx, len(content))
	if place == "cas" && len(content) > 1 && s.truncates(name) {
		_, _ = w.Write(content[:len(content)/2])
		return
	}
	_, _ = w.Write(content)
}
