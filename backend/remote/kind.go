package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// BackendKind returns the kind "remote".
func BackendKind() kind.Kind {
	return kind.Kind{Name: Kind, Block: block(), New: open, Asks: asks, Environments: worker.Environments, Check: check, Server: func(b *lang.Backend) any { return b }}
}

// asks returns the servers of a block.
func asks(b *lang.Backend) []string {
	r := lang.AttributesOf[attributes](b)
	all := []string{"talk to " + r.Endpoint}
	if r.State != "" {
		all = append(all, "talk to "+r.State)
	}
	return all
}

// inFlight limits the actions of a backend at a time, regardless of -j.
const inFlight = 4096

type backendKey string

// open makes the backend, and the sandbox, of a block. It does not contact the engine before
// something runs there.
func open(s *kind.Site, b *lang.Backend, _ []string) (plan.Executor, error) {
	r, err := kind.Shared(s, backendKey(b.Addr()), func() (*Backend, error) { return newBackend(s, b) })
	if err != nil {
		return plan.Executor{}, err
	}
	made := plan.Executor{Backend: r}
	if b.Judges {
		made.Sandbox = r.Sandbox()
	}
	return made, nil
}

func newBackend(s *kind.Site, b *lang.Backend) (*Backend, error) {
	r := lang.AttributesOf[attributes](b)
	program, err := kind.WorkerProgram(r.Program, "workers")
	if err != nil {
		return nil, err
	}
	client, err := clientOf(b)
	if err != nil {
		return nil, err
	}
	s.OnClose(client.Close)
	o := Options{
		Client:  client,
		Sender:  reapi.NewSender(client),
		Store:   s.Store,
		Name:    b.Addr(),
		Program: program,
		Judge:   r.GoJudge,
		Limits:  Limits{InFlight: inFlight, MaxTimeout: r.MaxTimeout, Patience: r.Patience, MaxState: r.MaxState},
		Host:    wire.Host{Scratch: r.Scratch, Path: r.Path, Python: b.Python, Versions: r.Versions, Isolation: r.Isolation, JudgeVersions: r.GoJudgeVersions},
	}
	if s.Notice != nil {
		o.Notice = func(text string) { s.Notice("backend " + b.Addr() + ": " + text) }
	}
	for _, p := range r.Platform {
		o.Platform = append(o.Platform, Property(p))
	}
	o.Facts, o.Place = s.MachineFacts(b.Addr(), r.Endpoint, o.Platform, o.Host, r.GoJudge), s.Place
	if s.Registry == nil { // nothing will run
		o.NotAsked = &graph.UnknownError{Err: fmt.Errorf("the workers of backend %s are unknown until a run queries one", b.Addr())}
	}
	return New(o), nil
}

// clientOf returns a connection to the engine of a block.
func clientOf(b *lang.Backend) (*reapi.Client, error) {
	r := lang.AttributesOf[attributes](b)
	u, err := url.Parse(r.Endpoint)
	if err != nil {
		return nil, err
	}
	o := reapi.Options{Address: u.Host, Instance: strings.Trim(u.Path, "/"), State: r.State, Headers: map[string]string{"authorization": reapi.Authorization(b.Token)}}
	for _, h := range r.Headers {
		o.Headers[h.Name] = h.Value
	}
	if u.Port() == "" {
		o.Address = net.JoinHostPort(u.Hostname(), map[string]string{"grpc": "80", "grpcs": "443"}[u.Scheme])
	}
	if u.Scheme == "grpcs" {
		if o.TLS, err = secure(r); err != nil {
			return nil, err
		}
	}
	return reapi.Open(o)
}

func secure(r *attributes) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.CA != "" {
		content, err := os.ReadFile(r.CA)
		if err != nil {
			return nil, &backend.SettingError{Setting: "ca", Err: err}
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(content) {
			return nil, &backend.SettingError{Setting: "ca", Err: fmt.Errorf("no certificate found in %s", r.CA)}
		}
	}
	if r.Certificate != "" {
		own, err := tls.LoadX509KeyPair(r.Certificate, r.Key)
		if err != nil {
			return nil, &backend.SettingError{Setting: "certificate", Err: err}
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// patience bounds what the doctor waits for an engine.
const patience = 20 * time.Second

// check makes the engine of a block execute an action.
func check(ctx context.Context, s *kind.Site, b *lang.Backend) kind.Finding {
	detail, err := prove(ctx, s, b)
	if err != nil {
		return kind.Finding{Subject: b.Addr(), State: "missing", Detail: err.Error()}
	}
	return kind.Finding{Subject: b.Addr(), State: "ok", Detail: detail}
}

// prove makes an engine execute an action, and returns its capabilities.
func prove(ctx context.Context, s *kind.Site, b *lang.Backend) (string, error) {
	endpoint := lang.AttributesOf[attributes](b).Endpoint
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no worker of %s has executed an action for %v", endpoint, patience))
	defer cancel()
	client, err := clientOf(b)
	if err != nil {
		return "", err
	}
	defer client.Close()
	can, err := client.Capabilities(ctx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", endpoint, err)
	}
	if !can.Executes {
		return "", fmt.Errorf("%s does not execute actions: it is only a cache", endpoint)
	}
	state, err := os.MkdirTemp("", "fevalgraph-doctor-") // stored facts about workers prove nothing here
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(state)
	site := &kind.Site{Store: cache.NewMemory(), State: state, Registry: new(backend.Registry), LookupEnv: s.LookupEnv}
	defer site.Close()
	made, err := newBackend(site, b)
	if err != nil {
		return "", err
	}
	about, err := made.Capabilities().BareIdentity(ctx)
	if err != nil {
		return "", err
	}
	words := []string{endpoint, "API " + can.Version, fmt.Sprintf("batches of %d bytes", can.Batch)}
	if can.MaxBlob > 0 {
		words = append(words, fmt.Sprintf("blobs of at most %d bytes", can.MaxBlob))
	}
	for _, f := range about {
		words = append(words, f.Label+" "+f.Value)
	}
	return strings.Join(words, ", "), nil
}
