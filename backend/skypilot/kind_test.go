package skypilot

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend/skypilot/api"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func newBlock(sky attributes, r lang.Resources) *lang.Backend {
	return &lang.Backend{Kind: Kind, Name: "b", Attributes: lang.NewAttributes(&sky), Machines: &lang.Machines{Resources: r, Slots: 2, MaxClusters: 3}}
}

func TestTask(t *testing.T) {
	for _, test := range []struct {
		sky  attributes
		r    lang.Resources
		want api.Task
	}{
		{attributes{Infra: "gcp/us-central1"}, lang.Resources{CPUs: "4+", Disk: "100", Nodes: "2"},
			api.Task{NumNodes: 2, Resources: api.Resources{Infra: "gcp/us-central1", CPUs: "4+", DiskSize: 100}}},
		{attributes{Infra: "gcp/us-central1", Spot: true}, lang.Resources{Region: "eu"},
			api.Task{Resources: api.Resources{Infra: "gcp/eu", UseSpot: true}}},
		{attributes{Infra: "gcp/us-central1"}, lang.Resources{Cloud: "aws"}, api.Task{Resources: api.Resources{Infra: "aws"}}},
		{attributes{Infra: "gcp", Autostop: 90 * time.Second}, lang.Resources{},
			api.Task{Resources: api.Resources{Infra: "gcp", Autostop: &api.Autostop{IdleMinutes: 1, Down: true}}}},
		{attributes{Infra: "gcp", Autostop: time.Second}, lang.Resources{}, // 0 would never end it
			api.Task{Resources: api.Resources{Infra: "gcp", Autostop: &api.Autostop{IdleMinutes: 1, Down: true}}}},
		{attributes{Infra: "slurm/c", TimeLimit: 26*time.Hour + 61*time.Second}, lang.Resources{},
			api.Task{Sbatch: map[string]string{"time": "26:01:01"}, Resources: api.Resources{Infra: "slurm/c"}}},
		{attributes{Infra: "gcp", TimeLimit: time.Hour}, lang.Resources{}, api.Task{Resources: api.Resources{Infra: "gcp"}}},
	} {
		if got := taskOf(newBlock(test.sky, test.r)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v, %+v: asks for %+v, want %+v", test.sky, test.r, got, test.want)
		}
	}
}

// The way to Slurm's machines is in SkyPilot's own configuration, and no name becomes an option of ssh.
func TestRemote(t *testing.T) {
	for _, test := range []struct{ infra, config, wantHost, wantConfig string }{
		{"slurm/login/part", "", "login", "/home/u/.slurm/config"},
		{"slurm/login", "/etc/ssh", "login", "/etc/ssh"},
		{"slurm", "", "", "/home/u/.slurm/config"},
		{"slurm/-oProxyCommand=x", "", "", "/home/u/.slurm/config"},
		{"gcp/us", "", "", ""},
	} {
		got := remoteOf(&attributes{Infra: test.infra, SSHConfig: test.config}, lookup(map[string]string{"HOME": "/home/u"}))
		if got.Host != test.wantHost || got.Config != test.wantConfig {
			t.Errorf("%s: %+v", test.infra, got)
		}
	}
}

func TestBase(t *testing.T) {
	for _, test := range []struct{ name, port, want string }{
		{localAPI, "", "http://127.0.0.1:46580"},
		{localAPI, "5", "http://127.0.0.1:5"},
		{"https://sky.test", "5", "https://sky.test"},
	} {
		if got := baseOf(test.name, lookup(map[string]string{portVariable: test.port})); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// The block's price overrides the catalogue's, without a request to the server; without either, the price is unknown.
func TestForecast(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "no", http.StatusInternalServerError)
	}))
	defer server.Close()
	s := &kind.Site{LookupEnv: lookup(map[string]string{"HOME": t.TempDir()})}
	for _, test := range []struct {
		sky     attributes
		r       lang.Resources
		trusted bool
		hourly  float64 // 0 is not known
		asks    bool
	}{
		{sky: attributes{Infra: "gcp", Price: 2.5}, hourly: 2.5},
		{sky: attributes{Infra: "gcp"}, r: lang.Resources{Accelerators: "L4:1"}}, // not trusted with its server
		{sky: attributes{Infra: "slurm/c"}, r: lang.Resources{Accelerators: "L4:1"}, trusted: true},
		{sky: attributes{Infra: "gcp"}, r: lang.Resources{CPUs: "8"}, trusted: true},
		{sky: attributes{Infra: "gcp"}, r: lang.Resources{Accelerators: "L4:many"}, trusted: true},
		{sky: attributes{Infra: "gcp"}, r: lang.Resources{Accelerators: "L4:1"}, trusted: true, asks: true},
	} {
		asked.Store(0)
		test.sky.API = server.URL
		l := forecast(t.Context(), s, newBlock(test.sky, test.r), 4, 100, test.trusted)
		if (l.Hourly == nil) != (test.hourly == 0) || l.Hourly != nil && *l.Hourly != test.hourly {
			t.Errorf("%+v: a cluster costs %v", test, l.Hourly)
		}
		if asks := asked.Load() > 0; asks != test.asks {
			t.Errorf("%+v: requests to the server: %v", test, asks)
		}
		if l.Clusters < 1 || l.Clusters > 3 {
			t.Errorf("%d clusters", l.Clusters)
		}
	}
}

// A server's status is requested only if the project is trusted with it, and once for all blocks.
func TestDoctor(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "healthy", "api_version": "1", "version": "0.99"})
	}))
	defer server.Close()
	b := newBlock(attributes{Infra: "gcp", API: server.URL}, lang.Resources{})
	cfg, k := &lang.Config{Backends: []*lang.Backend{b, {Kind: "local", Name: "x"}, b}}, BackendKind()
	for trusted, want := range map[bool]string{false: "the project is not trusted", true: server.URL} {
		asked.Store(0)
		s := &kind.Site{LookupEnv: lookup(nil), Trusts: func(asks []string) bool { return trusted }}
		found := k.Diagnose(t.Context(), s, cfg, false)
		if len(found) != 1 || !strings.Contains(found[0].Detail, want) || (asked.Load() > 0) != trusted {
			t.Errorf("trusted %v: %+v, %d requests", trusted, found, asked.Load())
		}
	}
	server.Close()
	if found := k.Diagnose(t.Context(), &kind.Site{LookupEnv: lookup(nil)}, cfg, false); len(found) != 1 || found[0].State != "missing" {
		t.Errorf("a server that is gone: %+v", found)
	}
	if found := k.Diagnose(t.Context(), &kind.Site{}, nil, false); found != nil {
		t.Errorf("without a configuration: %+v", found)
	}
}
