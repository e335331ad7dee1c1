package backend

import (
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// SessionKey proves who listed a session. A registry lies in a project, which can come
// from elsewhere, and its entries end and remove what they name: only those count that a
// key proves which no project has.
type SessionKey []byte

// ErrForeign reports that an entry of a registry is not the caller's own.
var ErrForeign = errors.New("this user did not write its entry on this machine, so nothing that it names is changed")

// Prove returns the proof of an entry of a run.
func (k SessionKey) Prove(run string, e Entry) string {
	e.Proof = ""
	text, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(proof.Key(k).Of([]byte(run+"\x00"), text))
}

// Check returns ErrForeign for an entry that the key did not prove. No key proves none.
func (k SessionKey) Check(e Entry) error {
	if len(k) == 0 || !hmac.Equal([]byte(e.Proof), []byte(k.Prove(e.Run, e))) {
		return ErrForeign
	}
	return nil
}
