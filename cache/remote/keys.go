package remote

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// PublicKey is a key whose signatures are trusted. Its text form is one line:
// ed25519:<base64 of the 32 bytes>, and an optional name for users.
type PublicKey struct {
	Name string
	key  ed25519.PublicKey
}

// PrivateKey signs records. Its text form is PEM: PKCS #8, with the name as a header.
type PrivateKey struct {
	PublicKey
	key ed25519.PrivateKey
}

var (
	_ dsse.Verifier = PublicKey{}
	_ dsse.Signer   = PrivateKey{}
)

const (
	keyPrefix  = "ed25519:"
	pemType    = "PRIVATE KEY"
	nameHeader = "Name"
)

// keyName matches names of keys, which can be shown without quoting.
var keyName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._@+/-]{0,63}$`)

// GenerateKey generates a key with a name, which can be "".
func GenerateKey(name string) (PrivateKey, error) {
	if name != "" && !keyName().MatchString(name) {
		return PrivateKey{}, fmt.Errorf("%q is not a valid name of a key: want up to 64 letters, digits and any of . _ @ + / -", name)
	}
	public, private, err := ed25519.GenerateKey(nil)
	return PrivateKey{PublicKey{name, public}, private}, err
}

// ParsePublicKey reads the text form.
func ParsePublicKey(text string) (PublicKey, error) {
	encoded, name, _ := strings.Cut(strings.TrimSpace(text), " ")
	digits, ok := strings.CutPrefix(encoded, keyPrefix)
	raw, err := base64.StdEncoding.DecodeString(digits)
	if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
		return PublicKey{}, errors.New("not a public key: want ed25519: and 44 characters, as `fevalgraph keygen` prints it")
	}
	if name = strings.TrimSpace(name); name != "" && !keyName().MatchString(name) {
		return PublicKey{}, fmt.Errorf("%q is not a valid name of a key", name)
	}
	return PublicKey{name, raw}, nil
}

// ParsePrivateKey reads the text form. The error does not quote the text.
func ParsePrivateKey(text []byte) (PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return PrivateKey{}, errors.New("not a private key as `fevalgraph keygen` writes it")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return PrivateKey{}, errors.New("not an Ed25519 key as `fevalgraph keygen` writes it")
	}
	name := block.Headers[nameHeader]
	if name != "" && !keyName().MatchString(name) {
		return PrivateKey{}, errors.New("the key's name contains unprintable characters")
	}
	return PrivateKey{PublicKey{name, private.Public().(ed25519.PublicKey)}, private}, nil
}

// MarshalText writes the form that ParsePrivateKey reads.
func (k PrivateKey) MarshalText() ([]byte, error) {
	raw, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: pemType, Bytes: raw}
	if k.Name != "" {
		block.Headers = map[string]string{nameHeader: k.Name}
	}
	return pem.EncodeToMemory(block), nil
}

// String returns the text form.
func (k PublicKey) String() string {
	return strings.TrimSpace(keyPrefix + base64.StdEncoding.EncodeToString(k.key) + " " + k.Name)
}

// describe returns a description of the key for users.
func (k PublicKey) describe() string {
	if k.Name != "" {
		return k.Name
	}
	id, _ := k.KeyID()
	return id[:12]
}

// KeyID implements dsse.Verifier and dsse.Signer.
func (k PublicKey) KeyID() (string, error) {
	sum := sha256.Sum256(k.key)
	return hex.EncodeToString(sum[:]), nil
}

// Public implements dsse.Verifier.
func (k PublicKey) Public() crypto.PublicKey { return k.key }

// Verify implements dsse.Verifier.
func (k PublicKey) Verify(_ context.Context, data, signature []byte) error {
	if !ed25519.Verify(k.key, data, signature) {
		return errors.New("wrong signature")
	}
	return nil
}

// Sign implements dsse.Signer.
func (k PrivateKey) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.key, data), nil
}
