package backend

import (
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// SessionKey authenticates the entries of session registries. A registry is in a
// project's directory, which can come from elsewhere, and its entries decide which
// processes and files are removed. So only entries count that are proven with a key that
// no project contains.
type SessionKey []byte

// ErrForeign means that the caller's key does not prove a registry entry.
var ErrForeign = errors.New("its registry entry was not written by this user on this machine, so what it names is left alone")

// Prove returns the proof of an entry of a run.
func (k SessionKey) Prove(run string, e Entry) string {
	e.Proof = ""
	text, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(proof.Key(k).Of([]byte(run+"\x00"), text))
}

// Check returns ErrForeign unless the key proves the entry. An empty key proves no
// entry.
func (k SessionKey) Check(e Entry) error {
	if len(k) == 0 || !hmac.Equal([]byte(e.Proof), []byte(k.Prove(e.Run, e))) {
		return ErrForeign
	}
	return nil
}
