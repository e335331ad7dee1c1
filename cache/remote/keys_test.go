package remote_test

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache/remote"
)

// TestKeys: keys survive their text forms, and other texts are rejected.
func TestKeys(t *testing.T) {
	for _, name := range []string{"", "ci", "pr-184/main"} {
		k := key(t, name)
		text, err := k.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		private, err := remote.ParsePrivateKey(text)
		if err != nil || private.String() != k.String() || private.Name != name {
			t.Errorf("%q: %v, %v", name, private, err)
		}
		public, err := remote.ParsePublicKey(k.String() + "\n")
		if err != nil || public.String() != k.String() {
			t.Errorf("%q: %v, %v", name, public, err)
		}
		if _, err := remote.ParsePrivateKey([]byte(k.String())); err == nil {
			t.Error("a public key is taken for a private one")
		}
		if _, err := remote.ParsePublicKey(string(text)); err == nil || strings.Contains(err.Error(), "MC4") {
			t.Errorf("a private key is taken for a public one, or shown: %v", err)
		}
	}
	for _, name := range []string{"two words", "\x1b[31m", strings.Repeat("a", 65), "-"} {
		if _, err := remote.GenerateKey(name); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
	for _, text := range []string{"", "ed25519:", "ed25519:AAAA", "rsa:" + strings.Repeat("A", 43) + "=", key(t, "").String() + " \x1b[31m"} {
		if _, err := remote.ParsePublicKey(text); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}
