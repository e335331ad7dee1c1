package stores

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/cache/remote/httpcache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// remoteCache is a remote cache in use.
type remoteCache struct {
	*remote.Store
	name     string
	lookups  int  // records that can be requested concurrently
	unsigned bool // nothing is sent, for lack of a key
}

// remoteLimit limits the net cost of all remote caches to a run: less than 5 s, with overhead.
const remoteLimit = 4500 * time.Millisecond

// Asks returns the permission that a remote cache needs.
func Asks(r *lang.RemoteCache) user.Trusted {
	return user.Trusted{Addr: "remote." + r.Name, Asks: []string{"ask " + r.URL + " for results"}}
}

// openRemotes adds the remote caches of a configuration below the other stores. It sends nothing before a cache
// is used. A cache whose environment variables are invalid is omitted with a warning.
func (s *Stores) openRemotes(layers *cache.Layered, cfg *lang.Config) error {
	known := cfg.Settings.Remotes
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].Name
	}
	for name := range s.options.Remotes {
		if !slices.Contains(names, name) {
			return exit.With(exit.Usage, fmt.Errorf("--cache: the configuration has no remote cache %q; known are %s", name, strings.Join(append(names, "local"), ", ")))
		}
	}
	if len(known) == 0 {
		return nil
	}
	signer, err := user.SigningKey(s.use.LookupEnv)
	if err != nil {
		return err
	}
	local := *layers
	s.local = &local
	layers.Places = make(chan struct{}, 64)
	for i := range known {
		r := &known[i]
		mode := r.Mode
		if s.options.Remotes != nil {
			asked, used := s.options.Remotes[r.Name]
			if !used {
				continue
			}
			if asked != "" {
				mode = asked
			}
		}
		asks := Asks(r)
		if s.use.Trust.Adding {
			s.use.Trust.Add(asks.Addr, asks.Asks)
		} else if !s.use.Trust.Allows(asks.Asks) {
			s.options.Note(options.Untrusted{Cache: r.Name})
			continue
		}
		s.openRemote(layers, &local, r, mode, remoteLimit/time.Duration(len(known)), signer)
	}
	return nil
}

// openRemote adds a cache below the others. local are those on this machine, and limit bounds its cost.
func (s *Stores) openRemote(layers, local *cache.Layered, r *lang.RemoteCache, mode string, limit time.Duration, signer *remote.PrivateKey) {
	var once sync.Once
	warn := func(err error) { once.Do(func() { s.options.Note(options.RemoteTrouble{Name: r.Name, Err: err}) }) }
	transport, err := s.transport(r)
	if err != nil {
		warn(fmt.Errorf("it is not used: %w", err))
		return
	}
	o := remote.Options{Namespace: r.Namespace, Others: r.ReadNamespaces, Signer: signer, Read: true, Write: mode == "rw" && !s.use.ReadOnly,
		Local: local, Kept: local, Jobs: s.options.RunJobs(), Limit: limit, Together: 20_000, Warn: warn}
	if s.use.ReadOnly {
		o.Kept = cache.NewMemory()
	}
	for _, text := range r.Trust {
		k, err := remote.ParsePublicKey(text)
		if err != nil { // the configuration was validated
			warn(err)
			continue
		}
		o.Trust = append(o.Trust, k)
	}
	one := remoteCache{name: r.Name, lookups: 4096, unsigned: o.Write && signer == nil}
	if strings.HasPrefix(r.URL, "http") { // connections are limited
		o.Together, one.lookups = 256, 64
	}
	one.Store = remote.Open(transport, o)
	if one.TrustsNone() {
		warn(errors.New("no key is trusted, so its results are not used (hint: `fevalgraph keygen`, and trust in its remote block)"))
	}
	s.remotes = append(s.remotes, one)
	layers.Lower = append(layers.Lower, one.Store)
	layers.Written = func(k cache.Key) {
		for _, r := range s.remotes {
			r.Written(k)
		}
	}
}

// transport connects to a cache. Credentials come from the environment, which also names their host, so that a
// project cannot redirect them.
func (s *Stores) transport(r *lang.RemoteCache) (remote.Transport, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	secure := u.Scheme == "grpcs" || u.Scheme == "https"
	host := u.Host
	if u.Port() == "" {
		port := map[string]string{"http": "80", "https": "443", "grpc": "80", "grpcs": "443"}[u.Scheme]
		host = net.JoinHostPort(u.Hostname(), port)
	}
	suffix := strings.ToUpper(strings.ReplaceAll(r.Name, "-", "_"))
	token, _ := s.use.LookupEnv("FEVALGRAPH_CACHE_TOKEN_" + suffix)
	bound, _ := s.use.LookupEnv("FEVALGRAPH_CACHE_HOST_" + suffix)
	switch {
	case token == "":
	case bound == "":
		return nil, fmt.Errorf("FEVALGRAPH_CACHE_TOKEN_%s is set, but FEVALGRAPH_CACHE_HOST_%s, the HOST:PORT that it is for, is not", suffix, suffix)
	case bound != host:
		return nil, fmt.Errorf("FEVALGRAPH_CACHE_TOKEN_%s is for %s, but the configuration names %s", suffix, bound, host)
	case !secure && !lang.IsLoopback(u.Hostname()):
		return nil, fmt.Errorf("FEVALGRAPH_CACHE_TOKEN_%s is not sent unencrypted (hint: use grpcs:// or https://)", suffix)
	}
	var config *tls.Config
	if secure {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
		if file, _ := s.use.LookupEnv("FEVALGRAPH_CACHE_CA_" + suffix); file != "" {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("FEVALGRAPH_CACHE_CA_%s: %w", suffix, err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(content) {
				return nil, fmt.Errorf("FEVALGRAPH_CACHE_CA_%s: no certificate found in %s", suffix, file)
			}
		}
	}
	if strings.HasPrefix(u.Scheme, "http") {
		return httpcache.Open(u, config, reapi.Authorization(token)), nil
	}
	return reapi.Open(reapi.Options{Address: host, Instance: strings.Trim(u.Path, "/"), TLS: config, Headers: map[string]string{"authorization": reapi.Authorization(token)}})
}

// Lookups returns how many decisions can wait for stores at once; 0 means the engine's default.
func (s *Stores) Lookups() (n int) {
	for _, r := range s.remotes {
		n = max(n, r.lookups)
	}
	return n
}

// Fetch fetches outputs that are about to be read, all at once. It requests them only if there are remote
// caches.
func (s *Stores) Fetch(ctx context.Context, outputs func() []cache.Output) {
	if len(s.remotes) > 0 {
		s.Store.(cache.Fetcher).Fetch(ctx, outputs())
	}
}

// Flush waits a moment until new records have been sent to the remote caches.
func (s *Stores) Flush(ctx context.Context) {
	const soon = time.Second
	for _, r := range s.remotes {
		slow := time.AfterFunc(soon, func() { s.options.Note(options.RemoteSending{Name: r.name, Results: r.Pending()}) })
		r.Flush(ctx)
		slow.Stop()
		if n := r.Unsigned(); n > 0 {
			s.options.Note(options.RemoteTrouble{Name: r.name, Err: fmt.Errorf("%d results were not sent, because %s is not set and only signed results can be trusted (hint: `fevalgraph keygen`, or mode = \"r\")", n, user.SigningKeyVariable)})
		}
	}
}
