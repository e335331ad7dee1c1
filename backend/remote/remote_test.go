package remote_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/remote"
	"github.com/fevalgraph/fevalgraph/backend/remote/remotehost"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// The test binary is the program of actions, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == wire.Command {
		if err := remotehost.Run(context.Background(), "."); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	remove := func() {}
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") { // not a program of the suite, which can be killed
		remove = ramdir.Use()
	}
	code := backendtest.Main(m)
	remove()
	os.Exit(code)
}

// site is an engine and its workers.
type site struct {
	address, state string // of the engine and of its scheduler
	platform       []remote.Property
	scratch        string // on the workers' machines
	program        string
	files          int              // a number that is large for its store
	evict          func(*testing.T) // removes the blobs of the engine
	lose           func(*testing.T) // kills a worker with its action
}

// buildbarn returns the site of a Buildbarn with two workers, of the pools a and b.
func buildbarn(t *testing.T) *site {
	t.Helper()
	address := os.Getenv("FEVALGRAPH_TEST_BUILDBARN")
	if address == "" {
		if os.Getenv("FEVALGRAPH_TEST_REAL") != "" {
			t.Fatal("FEVALGRAPH_TEST_BUILDBARN names no Buildbarn")
		}
		t.Skip("needs a Buildbarn: make buildbarn")
	}
	restart := func(t *testing.T, name string) {
		t.Helper()
		if out, err := exec.Command("../../scripts/buildbarn", "restart", os.Getenv("FEVALGRAPH_TEST_BUILDBARN_DIR"), name).CombinedOutput(); err != nil {
			t.Fatalf("restart %s: %v\n%s", name, err, out)
		}
	}
	return &site{
		address: address, state: os.Getenv("FEVALGRAPH_TEST_BUILDBARN_STATE"), scratch: "/tmp", program: itself(t), files: 5000,
		platform: []remote.Property{{Name: "OSFamily", Value: "linux"}, {Name: "pool", Value: "a"}},
		lose:     func(t *testing.T) { restart(t, "worker-a") },
		evict: func(t *testing.T) {
			restart(t, "storage")
			restart(t, "worker-a") // it has separate files
		},
	}
}

// itself returns the file of the test binary.
func itself(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// open returns a backend of the site's workers, and its store.
func (s *site) open(t *testing.T, change func(*remote.Options)) (*remote.Backend, cache.Store) {
	t.Helper()
	client, err := reapi.Open(reapi.Options{Address: s.address, State: s.state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	store := cache.NewMemory()
	o := remote.Options{
		Client:   client,
		Sender:   reapi.NewSender(client),
		Store:    store,
		Name:     "remote.tests",
		Platform: s.platform,
		Host:     wire.Host{Scratch: s.scratch, Path: backendtest.Path},
		Program:  s.program,
		Limits:   remote.Limits{InFlight: 8, MaxTimeout: time.Hour, Patience: time.Minute, MaxState: 1 << 30},
		Source:   facts.Source{Facts: filepath.Join(t.TempDir(), "facts.json")},
	}
	if change != nil {
		change(&o)
	}
	return remote.New(o), store
}

// Output of commands arrives when they end, and a session ends when a command is cancelled, since its files are on no
// machine. TestCancel covers that.
const without = "Cancel"

func TestBuildbarnBackend(t *testing.T) {
	for _, part := range suite(buildbarn(t)) {
		t.Run(part.name, part.test)
	}
}

// TestBackend leaves out how programs end, which package local tests, unless long tests run.
func TestBackend(t *testing.T) {
	t.Parallel()
	for i, part := range suite(nil) {
		t.Run(part.name, func(t *testing.T) {
			if part.name != "Files" && part.name != "ReadOnly" { // the runner is that of package local, whose tests have them
				longtest.Skip(t)
			}
			m := start
			if part.name == "Ports" {
				m = startProcesses
			}
			suite(m(t).site)[i].test(t)
		})
	}
}

type part struct {
	name string
	test func(t *testing.T)
}

// suite returns the parts of the conformance suite.
func suite(s *site) []part {
	fresh := func(t *testing.T) (backend.Backend, cache.Store) { return s.open(t, nil) }
	return []part{
		{"Files", func(t *testing.T) { backendtest.TestFiles(t, fresh) }},
		{"Programs", func(t *testing.T) { backendtest.TestPrograms(t, fresh) }},
		{"Endings", func(t *testing.T) { backendtest.TestEndings(t, fresh, without) }},
		// It ends the same processes as the local backend, whose tests cover this.
		{"Ports", func(t *testing.T) { backendtest.TestPorts(t, fresh, "Endings") }},
		{"ReadOnly", func(t *testing.T) { backendtest.TestReadOnly(t, fresh) }},
	}
}

// An action's sandbox belongs to a user without control groups: memory is limited for each process, and the number of
// processes is unlimited.
func TestBuildbarnSandbox(t *testing.T) {
	s, judge := buildbarn(t), os.Getenv("FEVALGRAPH_TEST_GOJUDGE")
	if judge == "" {
		t.Fatal("FEVALGRAPH_TEST_GOJUDGE is not set")
	}
	backendtest.TestSandboxFiles(t, func(t *testing.T) (backend.Sandbox, cache.Store) {
		b, store := s.open(t, func(o *remote.Options) { o.Judge = judge })
		return b.Sandbox(), store
	})
}
