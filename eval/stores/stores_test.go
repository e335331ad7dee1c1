package stores

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/lang"
)

// project is a project in a separate directory, with its settings for stores.
type project struct {
	options options.Options
	config  *lang.Config
	env     map[string]string

	mu    sync.Mutex
	notes []options.Notice
}

func newProject(t *testing.T, remotes ...lang.RemoteCache) *project {
	t.Helper()
	home := t.TempDir()
	p := &project{env: map[string]string{
		"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state"), "FEVALGRAPH_CACHE_DIR": filepath.Join(home, "store"),
	}}
	p.config = &lang.Config{Root: t.TempDir()}
	p.config.Settings.Remotes = remotes
	p.options = options.Options{
		Inputs:    lang.Inputs{Dir: p.config.Root},
		LookupEnv: p.lookup,
		Notify: func(n options.Notice) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.notes = append(p.notes, n)
		},
	}
	return p
}

func (p *project) lookup(name string) (string, bool) {
	value, ok := p.env[name]
	return value, ok
}

func (p *project) open(t *testing.T, use Use) (*Stores, error) {
	t.Helper()
	use.LookupEnv, use.Trust, use.MakeKey = p.lookup, p.options.OpenTrust(), true
	s, err := Open(&p.options, p.config, use)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

// trusted has the user trust the project with its remote caches.
func (p *project) trusted(t *testing.T) {
	t.Helper()
	trust := p.options.OpenTrust()
	trust.Adding = true
	for i := range p.config.Settings.Remotes {
		asks := Asks(&p.config.Settings.Remotes[i])
		trust.Add(asks.Addr, asks.Asks)
	}
	if err := trust.Save(); err != nil {
		t.Fatal(err)
	}
}

func putRecord(t *testing.T, s cache.Store, text string) cache.Key {
	t.Helper()
	d, err := cache.PutBytes(t.Context(), s, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	key := cache.Key(cache.SumBytes([]byte("question of " + text)).Hash)
	if err := s.PutRecord(t.Context(), key, &cache.Record{Class: cache.ClassDone, Outputs: []cache.Output{{Name: "out", Digest: d}}}); err != nil {
		t.Fatal(err)
	}
	return key
}

// A read-only store is read, and new entries go to the project's.
func TestReadOnlyStore(t *testing.T) {
	p := newProject(t)
	shared, err := p.open(t, Use{})
	if err != nil {
		t.Fatal(err)
	}
	old := putRecord(t, shared.Store, "old")

	p.options.StoreReadOnly = true
	s, err := p.open(t, Use{})
	if err != nil {
		t.Fatal(err)
	}
	made := putRecord(t, s.Store, "new")
	if len(s.IDs) != 2 || s.IDs[0] != shared.IDs[0] {
		t.Errorf("stores are %q, the shared one is %q", s.IDs, shared.IDs)
	}
	for key, want := range map[cache.Key]bool{old: true, made: false} {
		if r, err := shared.Store.Record(t.Context(), key); err != nil || (r != nil) != want {
			t.Errorf("shared store has %v: %v, %v; want %v", key, r, err, want)
		}
		if r, err := s.Store.Record(t.Context(), key); err != nil || r == nil {
			t.Errorf("both stores have %v: %v, %v", key, r, err)
		}
	}
	past, end, err := Past(&p.options)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for _, key := range []cache.Key{old, made} {
		if r, err := past.Record(t.Context(), key); err != nil || r == nil {
			t.Errorf("the past has %v: %v, %v", key, r, err)
		}
	}
}

func TestStoreNotWritable(t *testing.T) {
	p := newProject(t)
	p.env["FEVALGRAPH_CACHE_DIR"] = filepath.Join(p.config.Root, "file")
	if err := os.WriteFile(p.env["FEVALGRAPH_CACHE_DIR"], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := p.open(t, Use{})
	var coded *exit.Error
	if !errors.As(err, &coded) {
		t.Errorf("store is a file: %v", err)
	}
}

var ours = lang.RemoteCache{Name: "our-cache", URL: "http://127.0.0.1:1/x", Mode: "rw", Namespace: "n"}

// Remote caches of a project are used only if the user trusts it with them.
func TestRemoteUntrusted(t *testing.T) {
	p := newProject(t, ours)
	s, err := p.open(t, Use{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.remotes) != 0 || s.Lookups() != 0 || len(p.notes) != 1 || !reflect.DeepEqual(p.notes[0], options.Notice(options.Untrusted{Cache: ours.Name})) {
		t.Errorf("%d caches are open, notes %v", len(s.remotes), p.notes)
	}
	p.trusted(t)
	if s, err = p.open(t, Use{}); err != nil {
		t.Fatal(err)
	}
	if len(s.remotes) != 1 || s.Lookups() == 0 {
		t.Errorf("%d caches are open", len(s.remotes))
	}
	p.config.Settings.Remotes[0].URL = "http://127.0.0.1:2/x"
	if s, err = p.open(t, Use{}); err != nil || len(s.remotes) != 0 {
		t.Errorf("another address: %d caches are open, %v", len(s.remotes), err)
	}
}

func TestRemotesAsked(t *testing.T) {
	read := ours
	read.Name, read.Mode = "other", "r"
	for _, test := range []struct {
		name     string
		asked    map[string]string
		readOnly bool
		key      bool
		want     []string // names of used stores, "NAME+w" if written to
		err      string
	}{
		{name: "as configured", key: true, want: []string{"our-cache+w", "other"}},
		{name: "no sending without a key", want: []string{"our-cache", "other"}},
		{name: "one", asked: map[string]string{"other": ""}, key: true, want: []string{"other"}},
		{name: "another mode", asked: map[string]string{"other": "rw", "our-cache": "r"}, key: true, want: []string{"our-cache", "other+w"}},
		{name: "none", asked: map[string]string{}, key: true},
		{name: "call that only reads", readOnly: true, key: true, want: []string{"our-cache", "other"}},
		{name: "unknown", asked: map[string]string{"theirs": "r"}, err: `the configuration has no remote cache "theirs"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, ours, read)
			p.trusted(t)
			if test.key {
				p.env[user.SigningKeyVariable] = filepath.Join(t.TempDir(), "key")
				if _, err := user.GenerateSigningKey(p.env[user.SigningKeyVariable], ""); err != nil {
					t.Fatal(err)
				}
			}
			p.options.Remotes = test.asked
			s, err := p.open(t, Use{ReadOnly: test.readOnly})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var used []string
			for _, r := range s.remotes {
				name := r.name
				if r.Writes() {
					name += "+w"
				}
				used = append(used, name)
			}
			if !slices.Equal(used, test.want) {
				t.Errorf("used %q, want %q", used, test.want)
			}
		})
	}
}

// Tokens go only to the host that the environment names, and never in the clear to another machine.
func TestTransportRights(t *testing.T) {
	for _, test := range []struct {
		url, token, host, ca, err string
	}{
		{url: "http://example.test/x"},
		{url: "http://127.0.0.1:81/x", token: "t", host: "127.0.0.1:81"},
		{url: "http://127.0.0.1/x", token: "t", host: "127.0.0.1:80"},
		{url: "https://example.test/x", token: "t", host: "example.test:443"},
		{url: "grpcs://example.test/x", token: "t", host: "example.test:443"},
		{url: "https://example.test/x", token: "t", err: "does not say for which HOST:PORT"},
		{url: "https://evil.test/x", token: "t", host: "example.test:443", err: "is for example.test:443, and the configuration names evil.test:443"},
		{url: "https://example.test:444/x", token: "t", host: "example.test:443", err: "names example.test:444"},
		{url: "http://example.test/x", token: "t", host: "example.test:80", err: "not sent in the clear"},
		{url: "grpc://example.test/x", token: "t", host: "example.test:80", err: "not sent in the clear"},
		{url: "https://example.test/x", ca: "absent.pem", err: "FEVALGRAPH_CACHE_CA_OUR_CACHE"},
		{url: "https://example.test/x", ca: "stores_test.go", err: "no certificate found in"},
	} {
		env := map[string]string{"FEVALGRAPH_CACHE_TOKEN_OUR_CACHE": test.token, "FEVALGRAPH_CACHE_HOST_OUR_CACHE": test.host, "FEVALGRAPH_CACHE_CA_OUR_CACHE": test.ca}
		s := &Stores{use: Use{LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}}
		r := ours
		r.URL = test.url
		transport, err := s.transport(&r)
		if test.err == "" && err == nil {
			if err := transport.Close(); err != nil {
				t.Errorf("%+v: closing: %v", test, err)
			}
			continue
		}
		if test.err == "" || err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// Errors of sending and fetching name the missing configuration.
func TestTransferWithoutRemotes(t *testing.T) {
	p := newProject(t)
	s, err := p.open(t, Use{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Push(t.Context(), nil); err == nil || !strings.Contains(err.Error(), `mode = "rw"`) {
		t.Errorf("pushing to no cache: %v", err)
	}
	if _, _, err := s.Pull(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no remote cache") {
		t.Errorf("pulling from no cache: %v", err)
	}
	p = newProject(t, ours)
	p.trusted(t)
	if s, err = p.open(t, Use{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Push(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "keygen") {
		t.Errorf("pushing without a key: %v", err)
	}
}
