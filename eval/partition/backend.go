package partition

import (
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Backend is a backend and its answers about itself, without the values of secrets.
type Backend struct {
	Block       *lang.Backend
	Blanks      []blank
	Use         plan.Use
	Fingerprint plan.Fingerprint
}

// blank locates the value of a secret in a backend's block, and the source of the value.
type blank struct {
	Variable string // of the block's env; "" for the token
	Env      string
	File     string
}

// errHidden means that a block has a value that must not be stored.
var errHidden = errors.New("a sensitive value that is more than a secret is in a backend")

// Record returns a storable copy of a backend in a configuration, with its answers about itself. It fails
// for a block whose secrets cannot be told from other text.
func Record(h *plan.BackendHandle, cfg *lang.Config, fingerprint plan.Fingerprint) (Backend, error) {
	block, blanks, err := withoutSecrets(h.Block, cfg)
	return Backend{Block: block, Blanks: blanks, Use: h.Use, Fingerprint: fingerprint}, err
}

// withoutSecrets returns a storable copy of a block.
func withoutSecrets(b *lang.Backend, cfg *lang.Config) (*lang.Backend, []blank, error) {
	var blanks []blank
	clean := *b
	clean.Env = slices.Clone(b.Env)
	for i := range clean.Env {
		v := &clean.Env[i]
		if v.Secret == "" {
			continue
		}
		at := slices.IndexFunc(cfg.Secrets, func(s lang.Secret) bool { return s.Name == v.Secret && s.Value == v.Value })
		if at < 0 {
			return nil, nil, errHidden
		}
		blanks = append(blanks, blank{Variable: v.Name, Env: cfg.Secrets[at].Env, File: cfg.Secrets[at].File})
		v.Value = ""
	}
	if b.Sensitive && HasSecrets(cfg) { // any of them can be one
		return nil, nil, errHidden
	}
	if b.Token == "" || !HasSecrets(cfg) {
		return &clean, blanks, nil
	}
	// A secret token looks like a literal one.
	at := slices.IndexFunc(cfg.Secrets, func(s lang.Secret) bool { return s.Value == b.Token })
	if at < 0 {
		return nil, nil, errHidden
	}
	clean.Token = ""
	return &clean, append(blanks, blank{Env: cfg.Secrets[at].Env, File: cfg.Secrets[at].File}), nil
}

// WithSecrets returns the backend's block with the current values of its secrets.
func (b Backend) WithSecrets(env func(string) (string, bool)) (*lang.Backend, error) {
	whole := *b.Block
	whole.Env = slices.Clone(b.Block.Env)
	for _, blank := range b.Blanks {
		value, err := lang.Secret{Env: blank.Env, File: blank.File}.Read(env)
		if err != nil {
			return nil, err
		}
		if blank.Variable == "" {
			whole.Token = value
		}
		for i := range whole.Env {
			if whole.Env[i].Name == blank.Variable {
				whole.Env[i].Value = value
			}
		}
	}
	return &whole, nil
}
