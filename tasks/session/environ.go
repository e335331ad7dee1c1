package session

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// DescribeBackend adds the identity of the backend that commands run on.
func DescribeBackend(ctx context.Context, m *graph.Manifest, identity func(context.Context) (backend.Identity, error)) error {
	fields, err := identity(ctx)
	for _, f := range fields {
		m.String("backend "+f.Label, f.Value)
	}
	return err
}

// RequirePlaces returns an error if commands of a backend cannot see files at absolute paths or, with gpu, see no GPU.
func RequirePlaces(ctx context.Context, b backend.Backend, gpu bool) error {
	can := b.Capabilities()
	if can.Places == nil {
		return errors.New("this backend shows no files at absolute paths; a docker backend does, and a local one with isolation \"full\"")
	}
	err := can.Places(ctx)
	if err == nil && gpu && can.GPU != nil {
		err = can.GPU(ctx)
	}
	return err
}

// DescribeInherited adds the hashed values of variables whose secrets can change an outcome.
func DescribeInherited(m *graph.Manifest, variables []Variable) {
	for _, v := range variables {
		m.String("value of env "+v.Name, cache.SumBytes([]byte(v.Value)).String())
	}
}

// Variable is an environment variable of a command.
type Variable struct {
	Name, Value string
	Secret      string // name of the secret in Value, which is neither hashed nor shown
	Unhashed    bool   // cannot change a verdict, such as proxies and certificates
	// Passed marks a variable from the caller, whose URLs can contain names and passwords.
	Passed bool
}

// Environment is a complete environment, in order; later variables win.
type Environment []Variable

// Describe adds the variables that can change an outcome, sorted by name.
func (l Environment) Describe(m *graph.Manifest) {
	last := map[string]Variable{}
	var names []string
	for _, v := range l {
		if v.Unhashed {
			continue
		}
		if _, seen := last[v.Name]; !seen {
			names = append(names, v.Name)
		}
		last[v.Name] = v
	}
	slices.Sort(names)
	for _, name := range names {
		if v := last[name]; v.Secret != "" {
			// A separate label, since a plain value could look like a secret's name.
			m.String("env "+name+" from secret", v.Secret)
		} else {
			m.String("env "+name, v.Value)
		}
	}
}

// Variables returns KEY=value, with capacity for a few more, for commands that run a submission's files:
// names and passwords are removed from the caller's URLs.
func (l Environment) Variables() []string {
	return l.variables(backend.WithoutUserinfo)
}

// Preparing returns Variables for commands that fetch packages or probe the machine.
func (l Environment) Preparing() []string {
	return l.variables(func(value string) string { return value })
}

func (l Environment) variables(passed func(string) string) []string {
	const more = 4
	env := make([]string, 0, len(l)+more)
	for _, v := range l {
		if v.Passed {
			v.Value = passed(v.Value)
		}
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// Masked returns Secrets, and the names and passwords in the caller's URLs, which logs must not contain.
// They are in no key.
func (l Environment) Masked() []string {
	masked := l.Secrets()
	for _, v := range l {
		if v.Passed {
			masked = append(masked, backend.Userinfo(v.Value)...)
		}
	}
	return masked
}

// Value returns the effective value of a variable, or "".
func (l Environment) Value(name string) string {
	for _, v := range slices.Backward(l) {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// Secrets returns the values that must not be shown.
func (l Environment) Secrets() []string {
	var secrets []string
	for _, v := range l {
		if v.Secret != "" {
			secrets = append(secrets, v.Value)
		}
	}
	return secrets
}
