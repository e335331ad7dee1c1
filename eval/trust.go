package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Trust permits calls with read access to query the backends of a project, and returns the project's directory
// and the permissions. more, which can be nil, adds permissions for things other than evaluation. agree is
// called with both before the project is trusted; an error prevents it.
func Trust(ctx context.Context, o Options, more func(*lang.Config) []user.Trusted, agree func(root string, all []user.Trusted) error) (root string, all []user.Trusted, err error) {
	f, err := openWith(ctx, o, Reading, nil)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = f.call.closeAfter(err) }()
	f.call.trust.Adding = true
	if _, err := f.compile(ctx, false); err != nil {
		return "", nil, err
	}
	for _, b := range f.call.Config.Backends { // includes backends without cells
		if k := f.call.kind(b); k.Asks != nil {
			f.call.trust.Add(b.Addr(), k.Asks(b))
		}
	}
	for i := range f.call.Config.Settings.Remotes {
		asks := stores.Asks(&f.call.Config.Settings.Remotes[i])
		f.call.trust.Add(asks.Addr, asks.Asks)
	}
	if more != nil {
		for _, t := range more(f.call.Config) {
			f.call.trust.Add(t.Addr, t.Asks)
		}
	}
	if err := agree(f.call.trust.Root, f.call.trust.Asked()); err != nil {
		return "", nil, err
	}
	if err := f.call.trust.Save(); err != nil {
		return "", nil, exit.With(exit.NotJudged, err)
	}
	return f.call.trust.Root, f.call.trust.Asked(), nil
}

// Distrust revokes the permissions of a project. It returns false if it had none.
func Distrust(o Options) (root string, any bool, err error) {
	t := o.OpenTrust()
	if any, err = t.Revoke(); err != nil {
		return t.Root, any, exit.With(exit.NotJudged, err)
	}
	return t.Root, any, nil
}

// TrustedProjects returns the sorted directories of trusted projects.
func TrustedProjects(o Options) ([]string, error) {
	state, err := user.StateDir(o.Getenv)
	var roots []string
	if err == nil {
		roots, err = user.TrustedProjects(state)
	}
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return roots, nil
}
