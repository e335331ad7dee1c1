package docker

import (
	"archive/tar"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// contextTree stores a context of these files; names that end in "/" are directories.
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

func TestContext(t *testing.T) {
	for _, try := range []struct {
		name       string
		files      map[string]string
		dockerfile string
		as         string            // its name in the archive
		also       map[string]string // unexpected or different entries of the archive
	}{
		{"with the Dockerfile", map[string]string{"Dockerfile": "FROM x\n", "a": "1"}, "Dockerfile", "Dockerfile",
			map[string]string{".dockerignore": ".dockerignore\n"}},
		{"without it", map[string]string{"a": "1", ".dockerignore": "Dockerfile\n"}, "Dockerfile", "Dockerfile",
			map[string]string{"Dockerfile": "FROM x\n"}},
		{"without either", map[string]string{"a": "1"}, "sub/Dockerfile", "sub/Dockerfile",
			map[string]string{"sub/Dockerfile": "FROM x\n", ".dockerignore": ".dockerignore\nsub/Dockerfile\n"}},
		{"elsewhere", map[string]string{"Dockerfile": "FROM y\n", ".dockerignore": "b"}, "", strayDockerfile,
			map[string]string{strayDockerfile: "FROM x\n", ".dockerignore": "b\n" + strayDockerfile + "\n"}},
		{"elsewhere, without ignored files", map[string]string{"a": "1"}, "", strayDockerfile,
			map[string]string{strayDockerfile: "FROM x\n", ".dockerignore": ".dockerignore\n" + strayDockerfile + "\n"}},
	} {
		store := cache.NewMemory()
		c := NewContext(t.Context(), store, backend.Recipe{Dockerfile: try.dockerfile, Text: []byte("FROM x\n"), Context: contextTree(t, store, try.files)})
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
		if diff := cmp.Diff(want, got); diff != "" || c.Dockerfile != try.as || c.Failure() != nil {
			t.Errorf("%s: Dockerfile %s, failure %v\n%s", try.name, c.Dockerfile, c.Failure(), diff)
		}
	}
}

func TestContextKinds(t *testing.T) {
	store := cache.NewMemory()
	c := NewContext(t.Context(), store, backend.Recipe{Dockerfile: "Dockerfile", Context: contextTree(t, store,
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
