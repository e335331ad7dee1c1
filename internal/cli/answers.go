package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// backendAnswers is a backend and what it said of itself, as they are written down:
// without the values of secrets.
type backendAnswers struct {
	Block   *lang.Backend `json:"block"`
	Blanks  []blank       `json:"blanks,omitempty"`
	Use     plan.Use      `json:"use"`
	Answers plan.Answers  `json:"answers"`
}

// blank is where a backend's block has the value of a secret, and where that is
// to be had.
type blank struct {
	Variable string `json:"variable,omitempty"` // of the block's env; "" is the token
	Env      string `json:"env,omitempty"`
	File     string `json:"file,omitempty"`
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
	if b.GoJudge == nil || b.GoJudge.Token == "" || !hasSecrets(cfg) {
		return &clean, blanks, nil
	}
	// Nobody can tell a token that is a secret from one that is written out.
	at := slices.IndexFunc(cfg.Secrets, func(s lang.Secret) bool { return s.Value == b.GoJudge.Token })
	if at < 0 {
		return nil, nil, errHidden
	}
	judge := *b.GoJudge
	judge.Token = ""
	clean.GoJudge = &judge
	return &clean, append(blanks, blank{Env: cfg.Secrets[at].Env, File: cfg.Secrets[at].File}), nil
}

// hasSecrets reports whether any value of a configuration must not be written
// down.
func hasSecrets(cfg *lang.Config) bool {
	return len(cfg.Secrets) > 0 || slices.ContainsFunc(cfg.Variables, func(v lang.Variable) bool { return v.Sensitive })
}

// block is the backend's block with the values that its secrets have now.
func (b backendAnswers) block(env func(string) (string, bool)) (*lang.Backend, error) {
	whole := *b.Block
	whole.Env = slices.Clone(b.Block.Env)
	for _, blank := range b.Blanks {
		value, err := lang.Secret{Env: blank.Env, File: blank.File}.Read(env)
		if err != nil {
			return nil, err
		}
		if blank.Variable == "" && whole.GoJudge != nil {
			judge := *whole.GoJudge
			judge.Token = value
			whole.GoJudge = &judge
		}
		for i := range whole.Env {
			if whole.Env[i].Name == blank.Variable {
				whole.Env[i].Value = value
			}
		}
	}
	return &whole, nil
}

// backendAnswers are those of every backend that the run used.
func (p *project) backendAnswers(ctx context.Context, rep *graph.Report) ([]backendAnswers, error) {
	var all []backendAnswers
	for _, o := range p.plan.Opened(rep) {
		block, blanks, err := withoutSecrets(o.Block, p.cfg)
		if err != nil {
			return nil, err
		}
		answers, err := o.Answers(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, backendAnswers{Block: block, Blanks: blanks, Use: o.Use, Answers: answers})
	}
	return all, nil
}

// reopen makes the backends of a memory; they are asked nothing yet.
func (p *project) reopen(all []backendAnswers) error {
	for _, was := range all {
		block, err := was.block(p.app.lookupEnv)
		if err != nil {
			return err
		}
		opened, err := plan.Reopen(block, was.Use, p.environment())
		if err != nil {
			return err
		}
		p.reopened = append(p.reopened, opened)
	}
	return nil
}
