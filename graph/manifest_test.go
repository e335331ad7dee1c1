package graph

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

func sample() *Manifest {
	m := newManifest("sample", nil)
	m.String("text", "a\nb")
	m.String("empty", "")
	m.Int("number", -3)
	m.Bool("yes", true)
	m.Bool("no", false)
	m.Strings("list", []string{"x", ""})
	m.Strings("no list", nil)
	m.Digest("content", cache.SumBytes([]byte("hello")))
	m.Null("nothing")
	return m
}

// TestManifestGolden fails when the recipe changes. If that is meant, raise
// manifestVersion with it: without, answers of the old recipe would be served
// for questions of the new one.
func TestManifestGolden(t *testing.T) {
	const (
		wantVersion = 1
		wantBytes   = "13666576616c6772617068206d616e696665737401046b696e64730673616d706c6504746578747303610a6205656d707479" +
			"7300066e756d6265726905037965736201026e6f6200046c6973746c02017800076e6f206c6973746c0007636f6e74656e74642c" +
			"f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b98240a076e6f7468696e676e"
		wantKey = "2fa44bd5caf2a0cf8641cf127972d39798c9d39ff4ca8efa790552e980b7f814"
	)
	m := sample()
	if got := hex.EncodeToString(m.Bytes()); manifestVersion != wantVersion || got != wantBytes {
		t.Errorf("version %d encodes as\n%s\nwant version %d\n%s", manifestVersion, got, wantVersion, wantBytes)
	}
	if got := m.Key().String(); got != wantKey {
		t.Errorf("key is %s, want %s", got, wantKey)
	}
}

func TestDecodeManifest(t *testing.T) {
	fields, err := DecodeManifest(sample().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := []Field{
		{"kind", "sample", false}, {"text", "a\nb", false}, {"empty", "", false}, {"number", "-3", false}, {"yes", "true", false}, {"no", "false", false},
		{"list", `["x", ""]`, false}, {"no list", "[]", false}, {"content", cache.SumBytes([]byte("hello")).String(), true}, {"nothing", "null", false},
	}
	if !slices.Equal(fields, want) {
		t.Errorf("got %v\nwant %v", fields, want)
	}
}

func TestDecodeManifestRefuses(t *testing.T) {
	whole := sample().Bytes()
	for n := range whole {
		fields, err := DecodeManifest(whole[:n])
		if err == nil && len(fields) == 10 {
			t.Errorf("the first %d of %d bytes decode as a whole manifest", n, len(whole))
		}
	}
	newer := slices.Clone(whole)
	newer[1+len(manifestMagic)] = manifestVersion + 1
	if _, err := DecodeManifest(newer); err == nil || !strings.Contains(err.Error(), "format version 2") {
		t.Errorf("another version: %v", err)
	}
	for name, b := range map[string][]byte{
		"nothing":         nil,
		"something else":  []byte("\x05hello"),
		"endless varint":  []byte(strings.Repeat("\xff", 100)),
		"unknown type":    append(slices.Clone(whole), "\x01xz"...),
		"list of billion": append(slices.Clone(whole), "\x01xl\xff\xff\xff\xff\xff\x01"...),
		"text of billion": append(slices.Clone(whole), "\x01xs\xff\xff\xff\xff\xff\x01"...),
	} {
		if _, err := DecodeManifest(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add([]byte{})
	f.Add(sample().Bytes())
	f.Add(append(sample().Bytes(), "\x01xl\xff\xff\xff\xff\xff\x01"...))
	f.Fuzz(func(t *testing.T, b []byte) {
		fields, err := DecodeManifest(b)
		size := 0
		for _, field := range fields {
			size += len(field.Label) + len(field.Value)
		}
		// A digest of 33 bytes reads as 66 and more; a quoted byte as four, in
		// quotes and with a comma.
		if size > 100+10*len(b) {
			t.Errorf("%d bytes became %d", len(b), size)
		}
		if err != nil {
			return
		}
		labels := map[string]bool{}
		for _, field := range fields {
			labels[field.Label] = true
		}
		if len(labels) == len(fields) && Diff(fields, fields) != nil {
			t.Errorf("%v differs from itself", fields)
		}
	})
}

// TestKeysDiffer lists manifests that look alike and must not be.
func TestKeysDiffer(t *testing.T) {
	manifests := map[string]func(m *Manifest){
		"nothing":           func(m *Manifest) {},
		"null":              func(m *Manifest) { m.Null("a") },
		"empty text":        func(m *Manifest) { m.String("a", "") },
		"text null":         func(m *Manifest) { m.String("a", "null") },
		"empty list":        func(m *Manifest) { m.Strings("a", nil) },
		"list of empty":     func(m *Manifest) { m.Strings("a", []string{""}) },
		"zero":              func(m *Manifest) { m.Int("a", 0) },
		"false":             func(m *Manifest) { m.Bool("a", false) },
		"text zero":         func(m *Manifest) { m.String("a", "0") },
		"list ab":           func(m *Manifest) { m.Strings("a", []string{"ab"}) },
		"list a b":          func(m *Manifest) { m.Strings("a", []string{"a", "b"}) },
		"list b a":          func(m *Manifest) { m.Strings("a", []string{"b", "a"}) },
		"digest of nothing": func(m *Manifest) { m.Digest("a", cache.SumBytes(nil)) },
		"no digest":         func(m *Manifest) { m.Digest("a", cache.Digest{}) },
		"digest, size":      func(m *Manifest) { m.Digest("a", cache.Digest{Size: 1}) },
		"text b":            func(m *Manifest) { m.String("a", "b") },
		"text in label":     func(m *Manifest) { m.String("ab", "") },
		"two fields":        func(m *Manifest) { m.String("a", "b"); m.String("c", "d") },
		"one field":         func(m *Manifest) { m.String("a", "bcsd") },
	}
	seen := map[cache.Key]string{}
	for name, write := range manifests {
		m := newManifest("k", nil)
		write(m)
		if other, ok := seen[m.Key()]; ok {
			t.Errorf("%q and %q have one key", name, other)
		}
		seen[m.Key()] = name
	}
	if newManifest("k", nil).Key() == newManifest("l", nil).Key() {
		t.Error("kinds are not distinguished")
	}
}

func TestDiff(t *testing.T) {
	field := func(label, value string) Field { return Field{Label: label, Value: value} }
	old := []Field{field("same", "1"), field("changed", "1"), field("gone", "1"), field("gone too", "2")}
	now := []Field{field("new", "3"), field("changed", "2"), field("same", "1")}
	want := []event.Change{{Field: "new", New: "3"}, {Field: "changed", Old: "1", New: "2"}, {Field: "gone", Old: "1"}, {Field: "gone too", Old: "2"}}
	if got := Diff(old, now); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestChangeText(t *testing.T) {
	long := strings.Repeat("x", 50)
	for _, c := range []struct {
		change event.Change
		want   string
	}{
		{event.Change{Field: "file a/b.py", New: "d1"}, "a/b.py added"},
		{event.Change{Field: "file a/b.py", Old: "d1"}, "a/b.py deleted"},
		{event.Change{Field: "file a/b.py", Old: "d1", New: "d2"}, "a/b.py changed"},
		{event.Change{Field: "file a/b.py", Old: "d1", New: "d1 executable"}, "a/b.py changed its mode"},
		{event.Change{Field: "timeout", Old: "20s", New: "30s"}, "timeout: 20s -> 30s"},
		{event.Change{Field: "entry", Old: "x", New: long}, "entry changed"},
		{event.Change{Field: "env A", New: "x"}, "env A added"},
		{event.Change{Field: "env A", Old: "x"}, "env A removed"},
		{event.Change{Field: "tests", Old: "d1", New: "d2", Via: "tests:x"}, "tests changed"},
	} {
		if got := ChangeText(c.change); got != c.want {
			t.Errorf("%+v: %q, want %q", c.change, got, c.want)
		}
	}
}
