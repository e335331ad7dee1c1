package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/remote"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// Each of these tests has an engine in this process and a real one.
func TestBuildbarnCancel(t *testing.T)      { testCancel(t, buildbarn(t)) }
func TestBuildbarnOtherWorker(t *testing.T) { testOtherWorker(t, buildbarn(t)) }
func TestBuildbarnReused(t *testing.T)      { testReused(t, buildbarn(t)) }
func TestBuildbarnEvicted(t *testing.T)     { testEvicted(t, buildbarn(t)) }
func TestBuildbarnLostWorker(t *testing.T)  { testLostWorker(t, buildbarn(t)) }
func TestBuildbarnNoWorkers(t *testing.T)   { testNoWorkers(t, buildbarn(t)) }
func TestBuildbarnPrepared(t *testing.T)    { testPrepared(t, buildbarn(t)) }

func TestCancel(t *testing.T)      { testCancel(t, start(t).site) }
func TestOtherWorker(t *testing.T) { testOtherWorker(t, start(t).site) }
func TestReused(t *testing.T)      { testReused(t, start(t).site) }
func TestEvicted(t *testing.T)     { testEvicted(t, start(t).site) }
func TestLostWorker(t *testing.T)  { testLostWorker(t, start(t).site) }
func TestNoWorkers(t *testing.T)   { testNoWorkers(t, start(t).site) }
func TestPrepared(t *testing.T)    { testPrepared(t, start(t).site) }

func shell(script string) backend.Command {
	return backend.Command{Argv: []string{"sh", "-c", script}, Env: []string{"PATH=" + backendtest.Path}}
}

// begun returns a file that a command makes when it runs. An engine's user cannot read the directory of other
// tests.
func begun(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "begun-")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "begun")
}

// outside lets commands write where tests see it.
func outside(o *remote.Options) { o.Host.Isolation = "none" }

func exists(name string) func() bool {
	return func() bool {
		_, err := os.Lstat(name)
		return err == nil
	}
}

// A command that is cancelled ends, and its session is as it was before it.
func testCancel(t *testing.T, at *site) {
	b, _ := at.open(t, outside)
	s, err := b.Open(t.Context(), backend.Spec{Name: t.Name(), Inputs: []backend.Input{{Path: "f", Content: []byte("as it was")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	if _, err := s.Exec(t.Context(), shell("true")); err != nil {
		t.Fatal(err)
	}
	stop, mark := errors.New("stop"), begun(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		await.For(exists(mark))
		cancel(stop)
	}()
	began := time.Now()
	if exit, err := s.Exec(ctx, shell("echo changed >f; touch "+mark+"; while [ -e "+mark+" ]; do sleep 0.1; done; touch "+mark+".over")); !errors.Is(err, stop) {
		t.Errorf("got %+v, %v", exit, err)
	}
	if took := time.Since(began); took > 3*time.Minute {
		t.Errorf("it took %v", took)
	}
	f, err := s.Collect(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); string(text) != "as it was" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// A worker that is not what keys were made of does nothing, and its field is named.
func testOtherWorker(t *testing.T, at *site) {
	known := filepath.Join(t.TempDir(), "facts.json")
	b, _ := at.open(t, func(o *remote.Options) { o.Facts = known })
	if _, err := b.Capabilities().BareIdentity(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := facts.Read(known, proof.Place{})
	was, _ := f.Get(facts.Bare)
	was.Identity[0].Value = "plan9/mips"
	if err := f.Put(map[string]facts.Fact{facts.Bare: was}); err != nil {
		t.Fatal(err)
	}
	b, _ = at.open(t, func(o *remote.Options) { o.Facts = known })
	s, err := b.Open(t.Context(), backend.Spec{Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := s.Exec(t.Context(), shell("true"))
	var other *remote.OtherError
	if !errors.As(err, &other) || !strings.Contains(err.Error(), `platform was "plan9/mips" and is "linux/`) {
		t.Errorf("got %+v, %v", exit, err)
	}
	// After this report, the workers match it.
	b, _ = at.open(t, func(o *remote.Options) { o.Facts = known })
	if _, err := backend.Once(t.Context(), b, backend.Spec{Name: t.Name()}, shell("true")); err != nil {
		t.Error(err)
	}
}

// counting counts what is read of a store.
type counting struct {
	cache.Store
	files atomic.Int64
}

func (c *counting) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	if d.Size == 1000 {
		c.files.Add(1)
	}
	return c.Store.Open(ctx, d)
}

// Files that the server has are not sent again, by this run or another.
func testReused(t *testing.T, at *site) {
	files := at.files
	store := &counting{Store: cache.NewMemory()}
	b, _ := at.open(t, func(o *remote.Options) { o.Store = store })
	var entries []cache.Entry
	for i := range files {
		content := fmt.Appendf(nil, "%s %0*d", t.Name(), 999-len(t.Name()), i)
		d, err := cache.PutBytes(t.Context(), store.Store, content)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, cache.Entry{Path: fmt.Sprintf("d%d/f%d", i%50, i), Digest: d})
	}
	tree, err := cache.BuildTree(entries)
	if err == nil {
		err = tree.Store(t.Context(), store.Store)
	}
	if err != nil {
		t.Fatal(err)
	}
	count := func(b *remote.Backend) time.Duration {
		t.Helper()
		began := time.Now()
		var out bytes.Buffer
		cmd := shell("find . -type f | wc -l")
		cmd.Output = &out
		exit, err := backend.Once(t.Context(), b, backend.Spec{Name: t.Name(), Inputs: []backend.Input{{Tree: tree.Root}}}, cmd)
		if err != nil || exit.Code != 0 || strings.TrimSpace(out.String()) != fmt.Sprint(files) {
			t.Errorf("got %+v, %v, %q", exit, err, out.String())
		}
		return time.Since(began)
	}
	first := count(b)
	sent := store.files.Load()
	again := count(b)
	other, _ := at.open(t, func(o *remote.Options) { o.Store = store })
	another := count(other)
	if now := store.files.Load(); now != sent {
		t.Errorf("%d files were sent again", now-sent)
	}
	t.Logf("%d files were sent; it took %v, then %v, and %v in another run", sent, first, again, another)
}

// When the server loses everything, inputs are sent again. Content that only it had is lost, and so is the
// session, without blaming the command.
func testEvicted(t *testing.T, at *site) {
	b, store := at.open(t, func(o *remote.Options) { o.Patience = 3 * time.Minute })
	d, err := cache.PutBytes(t.Context(), store, []byte("from the store"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := cache.BuildTree([]cache.Entry{{Path: "f", Digest: d}})
	if err == nil {
		err = tree.Store(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	spec := backend.Spec{Name: t.Name(), Inputs: []backend.Input{{Tree: tree.Root}}}
	s, err := b.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	fill := shell("cat f; head -c 100000 /dev/urandom >made")
	if exit, err := s.Exec(t.Context(), fill); err != nil || exit.Code != 0 {
		t.Fatalf("got %+v, %v", exit, err)
	}
	at.evict(t)
	var gone *backend.PreemptedError
	if exit, err := s.Exec(t.Context(), shell("cat made >/dev/null")); !errors.As(err, &gone) {
		t.Errorf("the state of a session was lost: got %+v, %v", exit, err)
	}
	if exit, err := backend.Once(t.Context(), b, spec, fill); err != nil || exit.Code != 0 {
		t.Errorf("another session: got %+v, %v", exit, err)
	}
}

// A worker that is killed during an action does not blame the command.
func testLostWorker(t *testing.T, at *site) {
	b, _ := at.open(t, func(o *remote.Options) {
		outside(o)
		o.Patience = 3 * time.Minute
	})
	mark := begun(t)
	go func() {
		if await.For(exists(mark)) {
			at.lose(t)
		}
	}()
	var notes bytes.Buffer
	cmd := shell("if [ -e " + mark + " ]; then exit 5; fi; touch " + mark + "; sleep 1000")
	cmd.Notes = &notes
	exit, err := backend.Once(t.Context(), b, backend.Spec{Name: t.Name()}, cmd)
	if err != nil || exit.Code != 5 {
		t.Errorf("got %+v, %v", exit, err)
	}
	t.Logf("notes: %s", notes.String())
}

// Errors that no worker can help are reported with the platform.
func testNoWorkers(t *testing.T, at *site) {
	b, _ := at.open(t, func(o *remote.Options) {
		o.Platform = []remote.Property{{Name: "pool", Value: "none"}}
		o.Patience = time.Second
	})
	_, err := backend.Once(t.Context(), b, backend.Spec{Name: t.Name()}, shell("true"))
	if err == nil || !strings.Contains(err.Error(), "no workers for the platform pool=none") {
		t.Errorf("got %v", err)
	}
}

// Prepared files are created again after the server loses them, even during a run, and other runs use them as long as
// the server has them.
func testPrepared(t *testing.T, at *site) {
	known := filepath.Join(t.TempDir(), "facts.json")
	change := func(o *remote.Options) {
		outside(o)
		o.Facts, o.Patience = known, 3*time.Minute
	}
	b, _ := at.open(t, change)
	counter := begun(t)
	prepare := shell("echo x >>" + counter + "; mkdir -p /fevalgraph/environments/e && echo prepared >/fevalgraph/environments/e/file")
	made := func() int {
		text, err := os.ReadFile(counter)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("x"))
	}
	use := func(b *remote.Backend, snapshot string) {
		t.Helper()
		var out bytes.Buffer
		cmd := shell("cat /fevalgraph/environments/e/file")
		cmd.Output = &out
		exit, err := backend.Once(t.Context(), b, backend.Spec{Name: t.Name(), Snapshot: snapshot}, cmd)
		if err != nil || exit.Code != 0 || out.String() != "prepared\n" {
			t.Errorf("got %+v, %v, %q", exit, err, out.String())
		}
	}
	snapshot, exit, err := b.Prepare(t.Context(), "e", prepare)
	if err != nil || exit.Code != 0 || snapshot == "" {
		t.Fatalf("got %q, %+v, %v", snapshot, exit, err)
	}
	use(b, snapshot)
	files, err := filepath.Glob(filepath.Join(at.scratch, "*", "environments", "*", "content", "e", "file"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files { // none where the engine's workers have another view of the machine
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	use(b, snapshot)
	other, _ := at.open(t, change)
	again, _, err := other.Prepare(t.Context(), "e", prepare)
	if err != nil || made() != 1 {
		t.Errorf("another run prepared it again: %d, %v", made(), err)
	}
	use(other, again)
	at.evict(t)
	use(other, again)
	if made() != 2 {
		t.Errorf("it was prepared %d times", made())
	}
	if _, exit, err := b.Prepare(t.Context(), "bad", shell("exit 3")); err != nil || exit.Code != 3 {
		t.Errorf("a command that fails: %+v, %v", exit, err)
	}
}
