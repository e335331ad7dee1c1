package docker

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// tree stores a context of one file.
func tree(t *testing.T, store cache.Store) cache.Digest {
	t.Helper()
	d, err := cache.PutBytes(t.Context(), store, []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := cache.BuildTree([]cache.Entry{{Path: "a", Digest: d}})
	if err == nil {
		err = made.Store(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.Root
}

// The error names the missing blob, so its producer runs again.
func TestBuildContextLost(t *testing.T) {
	f := newFakeDaemon(t)
	f.on["POST /build"] = func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fails(http.StatusInternalServerError, "unexpected EOF")(w, r)
	}
	b := f.builder()
	tree, err := cache.BuildTree([]cache.Entry{{Path: "a", Digest: cache.SumBytes([]byte("lost"))}})
	if err == nil {
		err = tree.Store(t.Context(), b.store)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Build(t.Context(), backend.Recipe{Dockerfile: "Dockerfile", Context: tree.Root}, io.Discard)
	var missing *cache.MissingError
	if !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
}

// builder returns a backend on f whose image is built.
func (f *fakeDaemon) builder() *Backend {
	return New(cache.NewMemory(), f.Daemon, Options{Origin: Origin{Build: &Build{Name: "box/Dockerfile", Args: []Arg{{"A", "1"}}}}, Probes: Probes{Env: []string{"https_proxy=http://p", "HOME=/x"}}, Lifecycle: Lifecycle{Project: "p"}})
}

func says200Lines(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strings.Join(lines, "\n"))
	}
}

func TestBuildEndings(t *testing.T) {
	t.Parallel()
	stopped := func(f *fakeDaemon) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			var pings atomic.Int32
			f.on["GET /_ping"] = func(http.ResponseWriter, *http.Request) {
				if pings.Add(1) > 1 { // an immediate query still succeeds
					panic(http.ErrAbortHandler)
				}
			}
			f.on["HEAD /_ping"] = f.on["GET /_ping"]
			says200Lines(`{"error":"The command '/bin/sh -c x' returned a non-zero code: 137"}`)(w, r)
		}
	}
	for _, try := range []struct {
		name   string
		answer func(f *fakeDaemon) http.HandlerFunc
		recipe bool // the recipe causes the error
		want   string
	}{
		{"a command fails", func(*fakeDaemon) http.HandlerFunc {
			return says200Lines(`{"stream":"Step 1/1 : RUN false\n"}`, `{"stream":"\u001b[91mno\n\u001b[0m"}`, `{"errorDetail":{"code":1,"message":"x"},"error":"returned a non-zero code: 1"}`)
		}, true, "dockerfile: box/Dockerfile: returned a non-zero code: 1; it ended with:\n  Step 1/1 : RUN false\n  no"},
		{"a command kills itself", func(*fakeDaemon) http.HandlerFunc {
			return says200Lines(`{"error":"The command '/bin/sh -c x' returned a non-zero code: 137"}`)
		}, true, "non-zero code: 137"},
		{"refused", func(*fakeDaemon) http.HandlerFunc {
			return fails(http.StatusBadRequest, "the --mount option requires BuildKit")
		}, true, "requires BuildKit"},
		{"no room", func(*fakeDaemon) http.HandlerFunc {
			return says200Lines(`{"error":"write /x: no space left on device"}`)
		}, false, "building the image of box/Dockerfile: write /x: no space left on device"},
		{"images go during each attempt", func(*fakeDaemon) http.HandlerFunc {
			return says200Lines(`{"error":"unable to find image \"sha256:12\""}`)
		}, false, "another client removed images during the build"},
		{"the stream ends", func(*fakeDaemon) http.HandlerFunc { return says200Lines(`{"stream":"Step 1/1"}`, `{"str`) }, false, "lost the daemon"},
		{"no word of an image", func(*fakeDaemon) http.HandlerFunc { return says200Lines(`{"stream":"Step 1/1"}`) }, false, "lost the daemon"},
		{"the daemon is being stopped", stopped, false, "lost the daemon"},
		{"the daemon's fault", func(*fakeDaemon) http.HandlerFunc { return fails(http.StatusInternalServerError, "oops") }, false, "building the image of box/Dockerfile: Error response from daemon: oops"},
	} {
		t.Run(try.name, func(t *testing.T) {
			f := newFakeDaemon(t)
			f.on["POST /build"] = try.answer(f)
			if try.recipe {
				f.wait.stop = 300 * time.Millisecond // it is not being stopped
			}
			b := f.builder()
			_, err := b.Build(t.Context(), backend.Recipe{Dockerfile: "Dockerfile", Text: []byte("FROM x\n"), Context: tree(t, b.store)}, io.Discard)
			var recipe *backend.SettingError
			if err == nil || errors.As(err, &recipe) != try.recipe || !strings.Contains(err.Error(), try.want) {
				t.Errorf("recipe's fault: %t, want %t; error %v", errors.As(err, &recipe), try.recipe, err)
			}
		})
	}
}

// The daemon compares each step with all images on the same base, and fails if another client removes one meanwhile.
func TestBuildAgain(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		`unable to find image \"sha256:12\"`,
		"unknown parent image ID sha256:12",
		"No such image: sha256:12",
		"unrecognized image ID sha256:12",
	} {
		f := newFakeDaemon(t)
		var builds atomic.Int32
		f.on["POST /build"] = func(w http.ResponseWriter, r *http.Request) {
			if builds.Add(1) < 3 {
				says200Lines(`{"error":"`+message+`"}`)(w, r)
				return
			}
			says200Lines(`{"error":"the next attempt"}`)(w, r)
		}
		b := f.builder()
		_, err := b.Build(t.Context(), backend.Recipe{Dockerfile: "Dockerfile", Context: tree(t, b.store)}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "the next attempt") || builds.Load() != 3 {
			t.Errorf("%s: %d builds, error %v", message, builds.Load(), err)
		}
	}
}

func TestBuildCancelled(t *testing.T) {
	f := newFakeDaemon(t)
	why := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	f.on["POST /build"] = func(w http.ResponseWriter, r *http.Request) {
		cancel(why)
		hangs(w, r)
	}
	b := f.builder()
	if _, err := b.Build(ctx, backend.Recipe{Context: tree(t, b.store)}, io.Discard); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

// An image without its build is missing, and is not invented.
func TestNotBuilt(t *testing.T) {
	f := newFakeDaemon(t)
	if _, err := f.builder().Identity(t.Context()); !errors.Is(err, errNotBuilt) {
		t.Errorf("error %v", err)
	}
	if calls := f.called(); calls != "" {
		t.Errorf("called %s", calls)
	}
}
