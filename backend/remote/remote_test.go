package remote_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/remote"
	"github.com/fevalgraph/fevalgraph/backend/remote/remotehost"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// The test binary is the program of actions, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == remote.Command {
		if err := remotehost.Run(context.Background(), "."); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(backendtest.Main(m))
}

// endpoint is that of a Buildbarn with two workers, of the pools a and b.
func endpoint(t *testing.T) string {
	t.Helper()
	address := os.Getenv("FEVALGRAPH_TEST_BUILDBARN")
	if address == "" {
		if os.Getenv("FEVALGRAPH_TEST_REAL") != "" {
			t.Fatal("FEVALGRAPH_TEST_BUILDBARN names no Buildbarn")
		}
		t.Skip("needs a Buildbarn: make buildbarn")
	}
	return address
}

// open makes a backend of a pool of workers, and its store.
func open(t *testing.T, change func(*remote.Options)) (*remote.Backend, cache.Store) {
	t.Helper()
	client, err := reapi.Open(reapi.Options{Address: endpoint(t), State: os.Getenv("FEVALGRAPH_TEST_BUILDBARN_STATE")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	store := cache.NewMemory()
	o := remote.Options{
		Client: client, Uploader: reapi.NewUploader(client), Store: store, Name: "remote.tests",
		Platform: []remote.Property{{Name: "OSFamily", Value: "linux"}, {Name: "pool", Value: "a"}},
		Host:     remote.Host{Scratch: "/tmp", Path: backendtest.Path},
		Program:  program, InFlight: 8, MaxTimeout: time.Hour, Patience: time.Minute, MaxState: 1 << 30,
		Facts: filepath.Join(t.TempDir(), "facts.json"),
	}
	if change != nil {
		change(&o)
	}
	return remote.New(o), store
}

// What commands print arrives when they have ended, and a session does not go on after a
// command was cancelled: what that left is on no machine. TestCancel is about that.
const without = "Cancel"

func TestBuildbarnBackend(t *testing.T) {
	fresh := func(t *testing.T) (backend.Backend, cache.Store) { return open(t, nil) }
	t.Run("Files", func(t *testing.T) { backendtest.TestFiles(t, fresh) })
	t.Run("Programs", func(t *testing.T) { backendtest.TestPrograms(t, fresh) })
	t.Run("Endings", func(t *testing.T) { backendtest.TestEndings(t, fresh, without) })
	// What ends there is what the local backend ends, whose own tests are about that.
	t.Run("Ports", func(t *testing.T) { backendtest.TestPorts(t, fresh, "Endings") })
	t.Run("ReadOnly", func(t *testing.T) { backendtest.TestReadOnly(t, fresh) })
}

// A sandbox of an action is that of a user who makes no control groups: memory is limited for
// each process and the number of processes is not.
func TestBuildbarnSandbox(t *testing.T) {
	judge := os.Getenv("FEVALGRAPH_TEST_GOJUDGE")
	if endpoint(t); judge == "" {
		t.Fatal("FEVALGRAPH_TEST_GOJUDGE is not set")
	}
	backendtest.TestSandboxFiles(t, func(t *testing.T) (backend.Sandbox, cache.Store) {
		b, store := open(t, func(o *remote.Options) { o.Judge = judge })
		return b.Sandbox(), store
	})
}
