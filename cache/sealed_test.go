package cache

import (
	"bytes"
	"testing"
)

func TestSeal(t *testing.T) {
	for _, content := range []string{"", "\n", "x", "two\nlines\n", string(Seal([]byte("sealed twice")))} {
		sealed := Seal([]byte(content))
		if got, ok := Unseal(sealed); !ok || string(got) != content {
			t.Errorf("%q came back as %q, %v", content, got, ok)
		}
		for i := range sealed {
			for bit := range 8 {
				bad := bytes.Clone(sealed)
				bad[i] ^= 1 << bit
				if got, ok := Unseal(bad); ok {
					t.Errorf("%q with bit %d of byte %d flipped is %q", sealed, bit, i, got)
				}
			}
			if got, ok := Unseal(sealed[:i]); ok {
				t.Errorf("the first %d bytes of %q are %q", i, sealed, got)
			}
		}
		if got, ok := Unseal(append(sealed, '\n')); ok {
			t.Errorf("%q and a line is %q", sealed, got)
		}
	}
}

func FuzzUnseal(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add(Seal([]byte("content")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if content, ok := Unseal(b); ok && !bytes.Equal(Seal(content), b) {
			t.Errorf("%q is read as %q", b, content)
		}
	})
}
