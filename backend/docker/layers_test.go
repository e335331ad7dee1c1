package docker

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"time"
)

// layer returns an archive of files with the same content and some time.
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

// saved returns an image as a daemon saves it.
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

func TestLayersHaveNoTimes(t *testing.T) {
	read := func(content []byte) string {
		found, err := Layers(saved(t, `[{"Config":"c.json","Layers":["1/layer.tar"]}]`, "c.json", []byte(`{"os":"linux"}`), "1/VERSION", []byte("1.0"), "1/layer.tar", content))
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

func TestLayers(t *testing.T) {
	one, two := layer(t, time.Unix(1e9, 0), nil), layer(t, time.Unix(1e9, 0), func(h *tar.Header) { h.Name = "other" })
	empty := make([]byte, 1024)
	found, err := Layers(saved(t, `[{"Layers":["b/layer.tar","a/layer.tar","d/layer.tar","e/layer.tar"]}]`,
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
		if _, err := Layers(archive); !errors.Is(err, ErrOtherLayers) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Layers(io.LimitReader(saved(t, `[]`, "a", one), 700)); err == nil || errors.Is(err, ErrOtherLayers) {
		t.Errorf("half of one: %v", err)
	}
}
