package plan

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/lang"
)

// A backend without a capability that a problem needs is an error of the plan.
func TestIncapable(t *testing.T) {
	p := newProject(t, problem)
	for want, made := range map[string]Executor{
		"backend local.one has no Python interpreter":                            {Backend: fake.New(p.store, nil)},
		`backend local.one: a backend of the kind "local" does not run commands`: {Sandbox: fake.NewSandbox(p.store, nil)},
	} {
		env := p.environment()
		env.Executor = func(*lang.Backend, []string) (Executor, error) { return made, nil }
		if _, err := Compile(p.plan.Config, 1, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
