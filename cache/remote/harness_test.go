package remote_test

import (
	"context"
	"crypto/sha256"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/cache/remote/httpcache"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// Most tests wait for slow servers.
func TestMain(m *testing.M) {
	os.Exit(ramdir.Run(m))
}

// patient is for tests that do not depend on time.
const patient = 10 * time.Minute

var protocols = []string{"grpc", "http"}

// eachProtocol runs a test over both protocols at once.
func eachProtocol(t *testing.T, test func(t *testing.T, protocol string)) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			test(t, protocol)
		})
	}
}

// machine is a local store with a remote cache behind it.
type machine struct {
	*cache.Layered
	disk   *cache.Disk
	remote *remote.Store

	mu       sync.Mutex
	warnings []error
}

func key(t *testing.T, name string) remote.PrivateKey {
	t.Helper()
	k, err := remote.GenerateKey(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// dial returns a transport to a server.
func dial(t *testing.T, s *remotetest.Server, protocol, token string) (transport remote.Transport) {
	t.Helper()
	var err error
	if protocol == "grpc" {
		transport, err = reapi.Open(reapi.Options{Address: s.GRPC, Headers: map[string]string{"authorization": token}})
	} else {
		var base *url.URL
		if base, err = url.Parse(s.HTTP); err == nil {
			transport = httpcache.Open(base, nil, token)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

// newMachine returns a machine with an empty store, and completes o.
func newMachine(t *testing.T, s *remotetest.Server, protocol, token string, o remote.Options) *machine {
	t.Helper()
	disk, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	transport := dial(t, s, protocol, token)
	m := &machine{disk: disk}
	o.Local, o.Kept, o.Jobs, o.Together = disk, disk, 2, 1000
	o.Read, o.Write = true, true
	if o.Limit == 0 {
		o.Limit = 4500 * time.Millisecond
	}
	if o.Namespace == "" {
		o.Namespace = "main"
	}
	o.Warn = func(err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.warnings = append(m.warnings, err)
	}
	m.remote = remote.Open(transport, o)
	m.Layered = &cache.Layered{Upper: disk, Lower: []cache.Lower{m.remote}, Written: m.remote.Written}
	t.Cleanup(func() { m.remote.Close() })
	return m
}

func (m *machine) warned() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.warnings)
}

// hashManifest returns the key of a manifest.
func hashManifest(manifest string) cache.Key { return sha256.Sum256([]byte(manifest)) }

// store stores an answer: a blob, and a tree with files.
func store(t *testing.T, m *machine, manifest string, content []byte) *cache.Record {
	t.Helper()
	return storeAs(t, m, manifest, content, cache.Record{Class: cache.ClassDone})
}

// storeAs stores an answer that ended in some way.
func storeAs(t *testing.T, m *machine, manifest string, content []byte, r cache.Record) *cache.Record {
	t.Helper()
	ctx := context.Background()
	blob, err := cache.PutBytes(ctx, m, content)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := cache.BuildTree([]cache.Entry{{Path: "a/b", Digest: blob}, {Path: "c", Digest: blob}})
	if err == nil {
		err = tree.Store(ctx, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Attempts, r.Seconds, r.Run, r.Manifest = 1, 0.5, "r", []byte(manifest)
	r.Outputs = []cache.Output{{Name: "blob", Digest: blob}, {Name: "tree", Digest: tree.Root, Tree: true}}
	if err := m.PutRecord(ctx, hashManifest(manifest), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// served holds a store's answer for a manifest.
func served(t *testing.T, m *machine, manifest string) (*cache.Record, error) {
	t.Helper()
	return m.Record(context.Background(), hashManifest(manifest))
}
