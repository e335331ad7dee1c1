package options

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// SessionKey is the user's key for entries of session registries.
func (o *Options) SessionKey() (backend.SessionKey, error) { return o.UserKey(true) }

// recordKey is what signs records. A call that only reads makes no key, and without one
// there are no records that it could trust. A run that can have none works, too.
func (o *Options) RecordKey(create bool) (cache.RecordKey, error) {
	secret, err := o.RecordSecret(create)
	if wrong := (*exit.Error)(nil); errors.As(err, &wrong) {
		return nil, err
	}
	if err != nil {
		if create {
			o.Note(KeyMissing{err})
		}
		secret = noSecret()
	}
	return cache.NewRecordKey(secret)
}

// noSecret returns a secret that nothing was or will be proven with.
func noSecret() []byte {
	secret := make([]byte, user.KeySize)
	rand.Read(secret) // never fails
	return secret
}

// stateKey derives a key for what is kept in state directories from the secret that proves records:
// who may answer for a node may say so there. Without a secret, for a reason that RecordKey reports,
// nothing is proven.
func (o *Options) stateKey(create bool, use string) proof.Key {
	secret, err := o.RecordSecret(create)
	if err != nil {
		secret = noSecret()
	}
	key, err := proof.NewKey(secret, use)
	if err != nil { // only with keys that FIPS forbids
		key = noSecret()
	}
	return key
}

// Place seals the files of a state directory that decide something, see proof.Place. A call that
// only reads makes no key.
func (o *Options) Place(state string, create bool) proof.Place {
	return proof.At(o.stateKey(create, "fevalgraph state"), state, o.noteForeign)
}

// Records is where runs of the project are recorded.
func (o Options) Records() event.Records { return o.RecordsIn(o.StateDir(), false) }

// RecordsIn is where runs are recorded in a directory: a state directory, or its AnswersDir.
func (o *Options) RecordsIn(dir string, create bool) event.Records {
	return event.Records{Dir: dir, Key: o.stateKey(create, "fevalgraph runs"), Foreign: o.noteForeign}
}

func (o *Options) noteForeign(path string) { o.Note(StateForeign{Path: path}) }

// RecordSecret is what the key of records is derived from: the user's key or, where a group
// trusts the results of its members, that of the group, which the user has to mend.
func (o *Options) RecordSecret(create bool) ([]byte, error) {
	path, ok := o.Getenv(StoreKeyVariable)
	if !ok || path == "" {
		return o.UserKey(create)
	}
	secret, err := user.ReadGroupKey(path)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", StoreKeyVariable, err))
	}
	return secret, nil
}

// StoreKeyVariable names the file with the key of a group.
const StoreKeyVariable = "FEVALGRAPH_STORE_KEY"

// UserKey is the user's key. It is made when there is none, if it may be.
func (o *Options) UserKey(create bool) ([]byte, error) {
	dir, err := o.UserState()
	if err != nil {
		return nil, err
	}
	return user.Key(dir, create)
}

// UserState is the directory of what fevalgraph keeps for a user beside projects.
func (o *Options) UserState() (string, error) { return user.StateDir(o.Getenv) }

// OpenTrust reads what the project is trusted with.
func (o *Options) OpenTrust() *user.Trust {
	state, _ := o.UserState() // without one nothing was
	return user.OpenTrust(state, Absolute(o.ProjectDir()), o.Trusted)
}
