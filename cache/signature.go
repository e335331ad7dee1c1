package cache

import (
	"encoding/hex"
	"fmt"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// RecordKey signs records. Any program that can write to a store's directory can put a record into it, such
// as a submission that runs as the user; without the key it is not served. Blobs need no signature: a record
// names them by their content.
type RecordKey []byte

// NewRecordKey returns the key for records of the owner of a secret. The secret can have other uses: their
// proofs are not signatures of records.
func NewRecordKey(secret []byte) (RecordKey, error) {
	key, err := proof.NewKey(secret, "fevalgraph records")
	return RecordKey(key), err
}

// sign returns the signature of a record's sum.
func (k RecordKey) sign(sum []byte) []byte { return proof.Key(k).Of(sum) }

// signed reports whether text is the signature of a sum.
func (k RecordKey) signed(sum, text []byte) bool {
	signature, err := hex.DecodeString(string(text))
	return err == nil && proof.Key(k).Proves(signature, sum)
}

// ForeignError reports that the store has a record which no key that it trusts has signed.
type ForeignError struct {
	Key Key
	By  string // who signed it, by its own words; "" when it is not said
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the record %s was not written by you", e.Key)
}
