package partition

import (
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Backend is a backend and what it said of itself, without the values of secrets.
type Backend struct {
	Block       *lang.Backend
	Blanks      []blank
	Use         plan.Use
	Fingerprint plan.Fingerprint
}

// blank is where a backend's block has the value of a secret, and where that is
// to be had.
type blank struct {
	Variable string // of the block's env; "" is the token
	Env      string
	File     string
}

// errHidden says that a block has a value which may not be written down.
var errHidden = errors.New("a sensitive value that is more than a secret is in a backend")

// Record is a backend of a configuration as it may be written down, with what it said of
// itself. A block whose secrets cannot be told from other text is an error.
func Record(h *plan.BackendHandle, cfg *lang.Config, fingerprint plan.Fingerprint) (Backend, error) {
	block, blanks, err := withoutSecrets(h.Block, cfg)
	return Backend{Block: block, Blanks: blanks, Use: h.Use, Fingerprint: fingerprint}, err
}

// withoutSecrets is a copy of a block that may be written down.
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
	if b.Sensitive && HasSecrets(cfg) { // any of them may be one
		return nil, nil, errHidden
	}
	if b.Token == "" || !HasSecrets(cfg) {
		return &clean, blanks, nil
	}
	// A token that is a secret looks like one that is written out.
	at := slices.IndexFunc(cfg.Secrets, func(s lang.Secret) bool { return s.Value == b.Token })
	if at < 0 {
		return nil, nil, errHidden
	}
	clean.Token = ""
	return &clean, append(blanks, blank{Env: cfg.Secrets[at].Env, File: cfg.Secrets[at].File}), nil
}

// WithSecrets is the backend's block with the values that its secrets have now.
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
