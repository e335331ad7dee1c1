package proof

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func key(t *testing.T, secret string) Key {
	t.Helper()
	k, err := NewKey([]byte(secret), "test")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSeal(t *testing.T) {
	p := At(key(t, "secret"), "/state", nil)
	for _, content := range []string{"", "\n", "x", "two\nlines\n", string(p.Seal("/state/a", []byte("sealed twice")))} {
		sealed := p.Seal("/state/a", []byte(content))
		if got, ok := p.Unseal("/state/a", sealed); !ok || string(got) != content {
			t.Errorf("%q came back as %q, %v", content, got, ok)
		}
		for i := range sealed {
			for bit := range 8 {
				bad := bytes.Clone(sealed)
				bad[i] ^= 1 << bit
				if got, ok := p.Unseal("/state/a", bad); ok {
					t.Errorf("%q with bit %d of byte %d flipped is %q", sealed, bit, i, got)
				}
			}
			if got, ok := p.Unseal("/state/a", sealed[:i]); ok {
				t.Errorf("the first %d bytes of %q are %q", i, sealed, got)
			}
		}
		if got, ok := p.Unseal("/state/a", append(sealed, '\n')); ok {
			t.Errorf("%q and a line is %q", sealed, got)
		}
	}
}

func TestForeign(t *testing.T) {
	dir, said := t.TempDir(), 0
	foreign := func(string) { said++ }
	at := func(secret, dir string) Place { return At(key(t, secret), dir, foreign) }
	mine, path := at("mine", dir), filepath.Join(dir, "sub", "file")
	if got, ok := mine.Unseal(path, mine.Seal(path, []byte("content"))); !ok || string(got) != "content" || said != 0 {
		t.Fatalf("its own file is %q, %v; reported %d times", got, ok, said)
	}
	other := filepath.Join(t.TempDir(), "other")
	for name, b := range map[string][]byte{
		"of another key":       at("theirs", dir).Seal(path, []byte("content")),
		"of no key":            At(nil, dir, nil).Seal(path, []byte("content")),
		"of another name":      mine.Seal(filepath.Join(dir, "sub", "other"), []byte("content")),
		"of another directory": at("mine", other).Seal(filepath.Join(other, "sub", "file"), []byte("content")),
	} {
		said = 0
		if got, ok := mine.Unseal(path, b); ok || said != 1 {
			t.Errorf("a file %s is %q, reported %d times", name, got, said)
		}
	}
}

// TestPlaceOnce tests that all names of a directory are one place, also before it exists.
func TestPlaceOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	seal := func(state string) []byte { return At(key(t, "k"), state, nil).Seal(filepath.Join(state, "f"), nil) }
	direct := seal(filepath.Join(dir, "p", ".state"))
	if linked := seal(filepath.Join(dir, "link", "p", ".state")); !bytes.Equal(direct, linked) {
		t.Error("a link to the project makes another place")
	}
	t.Chdir(dir)
	if relative := seal(filepath.Join("p", ".state")); !bytes.Equal(direct, relative) {
		t.Error("a relative path makes another place")
	}
	if err := os.MkdirAll(filepath.Join(dir, "p", ".state"), 0o755); err != nil {
		t.Fatal(err)
	}
	if existing := seal(filepath.Join(dir, "p", ".state")); !bytes.Equal(direct, existing) {
		t.Error("making the directory makes another place")
	}
}

// TestReadHuge tests that an unproven file of any size is not read.
func TestReadHuge(t *testing.T) {
	p, path := At(key(t, "k"), "/state", nil), filepath.Join(t.TempDir(), "f")
	for name, head := range map[string][]byte{
		"proven, with more behind": p.Seal(path, []byte("content")),
		"of another key":           []byte(magic + "1099511627776 " + string(bytes.Repeat([]byte("0"), 64)) + " " + string(bytes.Repeat([]byte("0"), 64)) + "\n"),
		"of zeros":                 nil,
	} {
		if err := os.WriteFile(path, head, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(len(head))+1<<40); err != nil {
			t.Skip(err)
		}
		if got := p.Read(path); got != nil {
			t.Errorf("a file %s is read", name)
		}
	}
}

func FuzzUnseal(f *testing.F) {
	p := Place{}
	f.Add([]byte("plain"))
	f.Add(p.Seal("f", []byte("content")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if content, ok := p.Unseal("f", b); ok && !bytes.Equal(p.Seal("f", content), b) {
			t.Errorf("%q is read as %q", b, content)
		}
	})
}
