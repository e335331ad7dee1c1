package eval

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/user"
)

// sessionKey is the user's key for entries of session registries.
func (o *Options) sessionKey() (backend.SessionKey, error) { return o.userKey(true) }

// recordKey is what signs records. A call that only reads makes no key, and without one
// there are no records that it could trust. A run that can have none works, too.
func (o *Options) recordKey(access Access) (cache.RecordKey, error) {
	secret, err := o.recordSecret(access == Writing)
	if wrong := (*exit.Error)(nil); errors.As(err, &wrong) {
		return nil, err
	}
	if err != nil {
		if access == Writing {
			o.notify(KeyMissing{err})
		}
		secret = make([]byte, user.KeySize)
		rand.Read(secret) // never fails
	}
	return cache.NewRecordKey(secret)
}

// recordSecret is what the key of records is derived from: the user's key or, where a group
// trusts the results of its members, that of the group, which the user has to mend.
func (o *Options) recordSecret(create bool) ([]byte, error) {
	path, ok := o.lookupEnv(storeKeyVariable)
	if !ok || path == "" {
		return o.userKey(create)
	}
	secret, err := user.ReadGroupKey(path)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", storeKeyVariable, err))
	}
	return secret, nil
}

// storeKeyVariable names the file with the key of a group.
const storeKeyVariable = "FEVALGRAPH_STORE_KEY"

// userKey is the user's key. It is made when there is none, if it may be.
func (o *Options) userKey(create bool) ([]byte, error) {
	dir, err := o.userState()
	if err != nil {
		return nil, err
	}
	return user.Key(dir, create)
}

// userState is the directory of what fevalgraph keeps for a user beside projects.
func (o *Options) userState() (string, error) { return user.StateDir(o.lookupEnv) }
