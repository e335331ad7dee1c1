package cache

import (
	"encoding/hex"
	"fmt"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// RecordKey signs records. Any program that can write to a store's directory, such as a submission that
// runs as the user, can add a record, which is not served without a signature. Blobs need no signature: a
// record names them by their content.
type RecordKey []byte

// NewRecordKey returns the key for records of the owner of a secret. The secret can have other uses, since
// their proofs are not valid signatures of records.
func NewRecordKey(secret []byte) (RecordKey, error) {
	key, err := proof.NewKey(secret, "fevalgraph records")
	return RecordKey(key), err
}

// sign returns the signature of a record's sum.
func (k RecordKey) sign(sum []byte) []byte { return proof.Key(k).Of(sum) }

// isSigned reports whether text is the signature of a sum.
func (k RecordKey) isSigned(sum, text []byte) bool {
	signature, err := hex.DecodeString(string(text))
	return err == nil && proof.Key(k).Proves(signature, sum)
}

// ForeignError means that no trusted key signed a record in the store.
type ForeignError struct {
	Key Key
	By  string // signer according to the record itself; "" if unknown
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the record %s was not written by you", e.Key)
}
