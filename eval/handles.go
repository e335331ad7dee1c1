package eval

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// backendRecord is a backend and what it said of itself, without the values of secrets.
type backendRecord struct {
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
	if b.Token == "" || !hasSecrets(cfg) {
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

// block is the backend's block with the values that its secrets have now.
func (b backendRecord) block(env func(string) (string, bool)) (*lang.Backend, error) {
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

// changedBackends asks the recorded backends for their identities and returns the
// addresses of those that answer otherwise, or not at all. Those that answer are given
// to the plan, which does not ask them again.
func (p *Project) changedBackends(ctx context.Context, records []backendRecord) map[string]bool {
	handles := make([]*plan.BackendHandle, len(records))
	same := make([]bool, len(records))
	var group errgroup.Group
	for i, was := range records {
		block, err := was.block(p.options.lookupEnv)
		if err != nil {
			continue
		}
		if handles[i], err = plan.Rehydrate(block, was.Use, p.environment()); err != nil {
			continue
		}
		group.Go(func() error {
			now, err := handles[i].Fingerprint(ctx)
			same[i] = err == nil && reflect.DeepEqual(now, was.Fingerprint)
			return nil // what is wrong shows when a node asks
		})
	}
	_ = group.Wait()
	changed := map[string]bool{}
	for i, was := range records {
		if same[i] {
			p.rehydrated = append(p.rehydrated, handles[i])
		} else {
			changed[was.Block.Addr()] = true
		}
	}
	return changed
}

// backendRecords are those of the backends that an execution used, and of the recorded
// ones that it had no use for and that are unchanged.
func (p *Project) backendRecords(ctx context.Context, rep *graph.Report, old []backendRecord, changed map[string]bool) ([]backendRecord, error) {
	var all []backendRecord
	for _, h := range p.Plan.Backends(rep) {
		block, blanks, err := withoutSecrets(h.Block, p.Config)
		if err != nil {
			return nil, err
		}
		fingerprint, err := h.Fingerprint(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, backendRecord{Block: block, Blanks: blanks, Use: h.Use, Fingerprint: fingerprint})
	}
	for _, was := range old {
		known := func(b backendRecord) bool { return b.Use == was.Use && reflect.DeepEqual(b.Block, was.Block) }
		if !changed[was.Block.Addr()] && !slices.ContainsFunc(all, known) {
			all = append(all, was)
		}
	}
	return all, nil
}
