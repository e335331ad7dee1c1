package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Trust lets calls that only read ask the backends of a project who they are, and returns
// the project's directory and what that takes. more adds what a project is trusted with beside
// evaluation; it may be nil. agree is called with both before the project is trusted; its error
// keeps Trust from it.
func Trust(ctx context.Context, o Options, more func(*lang.Config) []user.Trusted, agree func(root string, all []user.Trusted) error) (root string, all []user.Trusted, err error) {
	p, err := openProject(ctx, o, Reading, nil)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = p.closeAfter(err) }()
	p.trust.Adding = true
	if err := p.compile(ctx, false); err != nil {
		return "", nil, err
	}
	for _, b := range p.Config.Backends { // also those that no cell is on
		if k := p.kind(b); k.Asks != nil {
			p.trust.Add(b.Addr(), k.Asks(b))
		}
	}
	for i := range p.Config.Settings.Remotes {
		asks := stores.Asks(&p.Config.Settings.Remotes[i])
		p.trust.Add(asks.Addr, asks.Asks)
	}
	if more != nil {
		for _, t := range more(p.Config) {
			p.trust.Add(t.Addr, t.Asks)
		}
	}
	if err := agree(p.trust.Root, p.trust.Asked()); err != nil {
		return "", nil, err
	}
	if err := p.trust.Save(); err != nil {
		return "", nil, exit.With(exit.NotJudged, err)
	}
	return p.trust.Root, p.trust.Asked(), nil
}

// Distrust takes back what a project was trusted with; false when that was nothing.
func Distrust(o Options) (root string, any bool, err error) {
	t := o.OpenTrust()
	if any, err = t.Revoke(); err != nil {
		return t.Root, any, exit.With(exit.NotJudged, err)
	}
	return t.Root, any, nil
}

// TrustedProjects are the directories of the projects that the user trusts, sorted.
func TrustedProjects(o Options) ([]string, error) {
	state, err := o.UserState()
	var roots []string
	if err == nil {
		roots, err = user.TrustedProjects(state)
	}
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return roots, nil
}
