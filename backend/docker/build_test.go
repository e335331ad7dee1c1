package docker

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// contextTree stores a context of these files; those that end in "/" are
// directories.
func contextTree(t *testing.T, store cache.Store, files map[string]string) cache.Digest {
	t.Helper()
	var entries []cache.Entry
	for name, text := range files {
		e := cache.Entry{Path: strings.TrimSuffix(name, "/"), Dir: strings.HasSuffix(name, "/")}
		switch {
		case strings.HasPrefix(text, "-> "):
			e.Link = text[len("-> "):]
		case !e.Dir:
			var err error
			if e.Digest, err = cache.PutBytes(t.Context(), store, []byte(text)); err != nil {
				t.Fatal(err)
			}
			e.Executable = strings.HasPrefix(text, "#!")
		}
		entries = append(entries, e)
	}
	tree, err := cache.BuildTree(entries)
	if err == nil {
		err = tree.Store(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree.Root
}

func TestBuildContext(t *testing.T) {
	for _, try := range []struct {
		name       string
		files      map[string]string
		dockerfile string
		as         string            // its name in the archive
		also       map[string]string // what the archive has more, or otherwise
	}{
		{"with the Dockerfile", map[string]string{"Dockerfile": "FROM x\n", "a": "1"}, "Dockerfile", "Dockerfile",
			map[string]string{".dockerignore": ".dockerignore\n"}},
		{"without it", map[string]string{"a": "1", ".dockerignore": "Dockerfile\n"}, "Dockerfile", "Dockerfile",
			map[string]string{"Dockerfile": "FROM x\n"}},
		{"without either", map[string]string{"a": "1"}, "sub/Dockerfile", "sub/Dockerfile",
			map[string]string{"sub/Dockerfile": "FROM x\n", ".dockerignore": ".dockerignore\nsub/Dockerfile\n"}},
		{"elsewhere", map[string]string{"Dockerfile": "FROM y\n", ".dockerignore": "b"}, "", strayDockerfile,
			map[string]string{strayDockerfile: "FROM x\n", ".dockerignore": "b\n" + strayDockerfile + "\n"}},
		{"elsewhere, nothing ignored", map[string]string{"a": "1"}, "", strayDockerfile,
			map[string]string{strayDockerfile: "FROM x\n", ".dockerignore": ".dockerignore\n" + strayDockerfile + "\n"}},
	} {
		store := cache.NewMemory()
		c := newBuildContext(t.Context(), store, backend.Recipe{Dockerfile: try.dockerfile, Text: []byte("FROM x\n"), Context: contextTree(t, store, try.files)})
		want := map[string]string{}
		for _, files := range []map[string]string{try.files, try.also} {
			for name, text := range files {
				want[name] = text
			}
		}
		got := map[string]string{}
		archive := tar.NewReader(c)
		for {
			h, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(archive)
			if _, twice := got[h.Name]; twice || !h.ModTime.Equal(fileTime) || h.Uid != 0 || h.Mode != 0o644 {
				t.Errorf("%s: %+v", try.name, h)
			}
			got[h.Name] = string(text)
		}
		if diff := cmp.Diff(want, got); diff != "" || c.dockerfile != try.as || c.failure() != nil {
			t.Errorf("%s: Dockerfile %s, failure %v\n%s", try.name, c.dockerfile, c.failure(), diff)
		}
	}
}

func TestBuildContextKinds(t *testing.T) {
	store := cache.NewMemory()
	c := newBuildContext(t.Context(), store, backend.Recipe{Dockerfile: "Dockerfile", Context: contextTree(t, store,
		map[string]string{"Dockerfile": "FROM x\n", "run.sh": "#!/bin/sh\n", "link": "-> run.sh", "empty/": "", "sub/ä": "1"})})
	var got []string
	archive := tar.NewReader(c)
	for h, err := archive.Next(); err == nil; h, err = archive.Next() {
		got = append(got, h.Name+" "+h.FileInfo().Mode().String()+" "+h.Linkname)
	}
	want := []string{"Dockerfile -rw-r--r-- ", "empty/ drwxr-xr-x ", "link Lrwxrwxrwx run.sh", "run.sh -rwxr-xr-x ", "sub/ drwxr-xr-x ", "sub/ä -rw-r--r-- ", ".dockerignore -rw-r--r-- "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// What the store has lost is what the error is about: its producer runs again.
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
	return New(cache.NewMemory(), f.Daemon, Options{Build: &Build{Name: "box/Dockerfile", Args: []Arg{{"A", "1"}}}, Env: []string{"https_proxy=http://p", "HOME=/x"}, Project: "p"})
}

func says200Lines(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strings.Join(lines, "\n"))
	}
}

func TestBuildEndings(t *testing.T) {
	stopped := func(f *fakeDaemon) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			var pings atomic.Int32
			f.on["GET /_ping"] = func(http.ResponseWriter, *http.Request) {
				if pings.Add(1) > 1 { // it still answers when it is asked at once
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
		recipe bool // it is the recipe's fault
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
			_, err := b.Build(t.Context(), backend.Recipe{Dockerfile: "Dockerfile", Text: []byte("FROM x\n"), Context: contextTree(t, b.store, map[string]string{"a": "1"})}, io.Discard)
			var recipe *backend.SettingError
			if err == nil || errors.As(err, &recipe) != try.recipe || !strings.Contains(err.Error(), try.want) {
				t.Errorf("recipe's fault: %t, want %t; error %v", errors.As(err, &recipe), try.recipe, err)
			}
		})
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
	if _, err := b.Build(ctx, backend.Recipe{Context: contextTree(t, b.store, nil)}, io.Discard); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

// An image without its build is no image, and none is made up.
func TestNotBuilt(t *testing.T) {
	f := newFakeDaemon(t)
	if _, err := f.builder().Identity(t.Context()); !errors.Is(err, errNotBuilt) {
		t.Errorf("error %v", err)
	}
	if calls := f.called(); calls != "" {
		t.Errorf("called %s", calls)
	}
}

// layer is an archive of files with the same content and some time.
func layer(t *testing.T, when time.Time, change func(h *tar.Header)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h := &tar.Header{Typeflag: tar.TypeReg, Name: "etc/x", Size: 3, Mode: 0o644, ModTime: when, AccessTime: when, Format: tar.FormatPAX, PAXRecords: map[string]string{"SCHILY.xattr.user.a": "1"}}
	if change != nil {
		change(h)
	}
	err := w.WriteHeader(h)
	if err == nil && h.Typeflag == tar.TypeReg {
		_, err = io.WriteString(w, "abc"[:h.Size])
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// saved is an image as a daemon saves it.
func saved(t *testing.T, manifest string, files ...any) io.Reader {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, content any) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}
		data, ok := content.([]byte)
		if link, isLink := content.(string); isLink {
			h.Typeflag, h.Linkname = tar.TypeSymlink, link
		} else if ok {
			h.Size = int64(len(data))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(data)
	}
	for i := 0; i < len(files); i += 2 {
		add(files[i].(string), files[i+1])
	}
	add("manifest.json", []byte(manifest))
	w.Close()
	return &b
}

func TestContentHasNoTimes(t *testing.T) {
	read := func(content []byte) string {
		found, err := readSaved(saved(t, `[{"Config":"c.json","Layers":["1/layer.tar"]}]`, "c.json", []byte(`{"os":"linux"}`), "1/VERSION", []byte("1.0"), "1/layer.tar", content))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	first := read(layer(t, time.Unix(1e9, 0), nil))
	if read(layer(t, time.Unix(1.1e9, 5), nil)) != first {
		t.Error("another time is another content")
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(layer(t, time.Unix(1e9, 0), nil))
	z.Close()
	if read(packed.Bytes()) != first {
		t.Error("a packed layer is another content")
	}
	seen := map[string]string{first: "the first"}
	for name, change := range map[string]func(*tar.Header){
		"name":      func(h *tar.Header) { h.Name = "etc/y" },
		"mode":      func(h *tar.Header) { h.Mode = 0o600 },
		"owner":     func(h *tar.Header) { h.Uid = 1000 },
		"group":     func(h *tar.Header) { h.Gid = 1000 },
		"size":      func(h *tar.Header) { h.Size = 2 },
		"attribute": func(h *tar.Header) { h.PAXRecords = map[string]string{"SCHILY.xattr.user.a": "2"} },
		"link":      func(h *tar.Header) { h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, "y", 0 },
		"hard link": func(h *tar.Header) { h.Typeflag, h.Linkname, h.Size = tar.TypeLink, "y", 0 },
	} {
		got := read(layer(t, time.Unix(1e9, 0), change))
		if other := seen[got]; other != "" {
			t.Errorf("%s: the same as %s", name, other)
		}
		seen[got] = name
	}
}

func TestReadSaved(t *testing.T) {
	one, two := layer(t, time.Unix(1e9, 0), nil), layer(t, time.Unix(1e9, 0), func(h *tar.Header) { h.Name = "other" })
	empty := make([]byte, 1024)
	found, err := readSaved(saved(t, `[{"Layers":["b/layer.tar","a/layer.tar","d/layer.tar","e/layer.tar"]}]`,
		"a/layer.tar", one, "b/layer.tar", two, "d/layer.tar", "../a/layer.tar", "e/layer.tar", empty))
	if err != nil || len(found) != 4 || found[1] != found[2] || found[0] == found[1] || found[3] == found[0] {
		t.Errorf("%q, %v", found, err)
	}
	for name, archive := range map[string]io.Reader{
		"a layer is not there": saved(t, `[{"Layers":["a/layer.tar"]}]`),
		"a layer is something": saved(t, `[{"Layers":["a"]}]`, "a", bytes.Repeat([]byte("x"), 1024)),
		"two images":           saved(t, `[{"Layers":[]},{"Layers":[]}]`),
		"no image":             saved(t, `[]`),
	} {
		if _, err := readSaved(archive); !errors.Is(err, errOtherLayers) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readSaved(io.LimitReader(saved(t, `[]`, "a", one), 700)); err == nil || errors.Is(err, errOtherLayers) {
		t.Errorf("half of one: %v", err)
	}
}
