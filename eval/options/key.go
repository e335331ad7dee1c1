package options

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// RecordKey returns the key that signs records. A call with read access creates no key; without a key it trusts
// no records. A run that cannot create a key continues without one.
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

// noSecret returns a random secret that proves nothing.
func noSecret() []byte {
	secret := make([]byte, user.KeySize)
	rand.Read(secret) // never fails
	return secret
}

// stateKey derives a key for state directories from the secret that proves records: a holder of the secret
// can forge answers anyway. Without a secret, for a reason that RecordKey reports, nothing is proven.
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

// Place returns the proof.Place that seals important files of a state directory. A call with read access
// creates no key.
func (o *Options) Place(state string, create bool) proof.Place {
	return proof.At(o.stateKey(create, "fevalgraph state"), state, func(path string) { o.Note(StateForeign{Path: path}) })
}

// Records returns the records of the project's runs.
func (o Options) Records() event.Records { return o.RecordsIn(o.StateDir(), false) }

// RecordsIn returns the records of runs in a directory: a state directory, or its AnswersDir.
func (o *Options) RecordsIn(dir string, create bool) event.Records {
	return event.Records{Dir: dir, Key: o.stateKey(create, "fevalgraph runs"), Foreign: func(path string) { o.Note(StateForeign{Path: path}) }}
}

// RecordSecret returns the secret of the key of records: the user's key or, if a group trusts the results of
// its members, that of the group. An unreadable group key is an error that the user has to fix.
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

// StoreKeyVariable is the variable that names the file with a group's key.
const StoreKeyVariable = "FEVALGRAPH_STORE_KEY"

// UserKey returns the user's key. With create, it creates a missing one.
func (o *Options) UserKey(create bool) ([]byte, error) {
	dir, err := user.StateDir(o.Getenv)
	if err != nil {
		return nil, err
	}
	return user.Key(dir, create)
}

// OpenTrust reads the trust in the project.
func (o *Options) OpenTrust() *user.Trust {
	state, _ := user.StateDir(o.Getenv) // without a directory, nothing is trusted
	return user.OpenTrust(state, Absolute(o.ProjectDir()), o.Trusted)
}
