package generate

import (
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/lang"
)

// A project specifies which variables of the environment hold keys, and where they are sent: a cloned
// project could name any. So trust in keys takes `fevalgraph trust`, not just a run of gen. It shows each
// key and its destination, and covers only that pair. A generator without secrets can do nothing that
// running the project could not.

// Asks returns the permissions that a generator needs. secrets reports whether it uses secrets, and so needs
// trust.
func Asks(cfg *lang.Config, g *lang.Generator) (asks []string, secrets bool) {
	if g.Endpoint != "" {
		for _, name := range g.Keys {
			asks = append(asks, fmt.Sprintf("send %s to %s", secretText(cfg, name), g.Endpoint))
		}
		if len(asks) > 0 {
			return asks, true
		}
		return []string{"send task texts to " + g.Endpoint}, false
	}
	argv := append([]string(nil), g.Command...)
	for i, path := range projectFiles(cfg.Root, argv) {
		if path != "" {
			argv[i] = path // identified by its content
		}
	}
	run := "run " + shellquote.Join(argv...)
	var with []string
	for _, v := range g.Env {
		named := secretsOf(cfg, v)
		for _, name := range named {
			with = append(with, secretText(cfg, name))
		}
		if v.Secret != "" && len(named) == 0 {
			with = append(with, "the sensitive value "+v.Secret)
		}
	}
	if len(with) == 0 {
		return []string{run}, false
	}
	return []string{run + " with " + strings.Join(with, " and ")}, true
}

// secretText identifies a secret by its variable or file, since a project can rename it.
func secretText(cfg *lang.Config, name string) string {
	for _, s := range cfg.Secrets {
		switch {
		case s.Name != name:
		case s.Env != "":
			return "the environment variable " + s.Env
		default:
			return "the content of " + s.File
		}
	}
	return "secret." + name
}

// secretsOf returns the names of the secrets in a variable.
func secretsOf(cfg *lang.Config, v lang.EnvVar) []string {
	names, _, _ := strings.Cut(v.Secret, " in ")
	var found []string
	for name := range strings.SplitSeq(names, "+") {
		for _, s := range cfg.Secrets {
			if s.Name == name {
				found = append(found, name)
			}
		}
	}
	return found
}

// Trusted returns the permissions for the generators of a configuration, for `fevalgraph trust`.
func Trusted(cfg *lang.Config) []user.Trusted {
	var all []user.Trusted
	for _, g := range cfg.Generators {
		if asks, secrets := Asks(cfg, g); secrets {
			all = append(all, user.Trusted{Addr: g.Ref, Asks: asks})
		}
	}
	return all
}

// checkTrusted returns an error that lists the missing permissions of generators.
func (c *call) checkTrusted(all []*gen.Generator) error {
	t := c.o.OpenTrust()
	var lines []string
	for _, g := range all {
		if asks, secrets := Asks(c.cfg, g.Generator); secrets && !t.Allows(asks) {
			for _, ask := range asks {
				lines = append(lines, fmt.Sprintf("  %s: %s", g.Ref, ask))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return exit.With(exit.Usage, fmt.Errorf("this project is not trusted with your keys, so no request was sent; it would\n%s\n  hint: to allow this, run `fevalgraph trust`", strings.Join(lines, "\n")))
}
