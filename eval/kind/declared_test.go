package kind

import (
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/lang"
)

// TestDeclared: settings that a kind marks as part of no key are not declared, and all others are.
func TestDeclaredIdentity(t *testing.T) {
	type own struct {
		Network  string `hcl:"network"`
		Endpoint string `hcl:"endpoint" keys:"-"`
	}
	identity := func(b lang.Backend, c lang.Container, a own) backend.Identity {
		b.Kind, b.Commands, b.Container = "box", true, &c
		id, err := Declared(&b, &a, nil).Backend.Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	base := identity(lang.Backend{}, lang.Container{Image: "debian:12"}, own{})
	for name, c := range map[string]struct {
		same bool
		id   backend.Identity
	}{
		"keep":       {true, identity(lang.Backend{}, lang.Container{Image: "debian:12", Keep: "always"}, own{})},
		"mounts":     {true, identity(lang.Backend{}, lang.Container{Image: "debian:12", Mounts: []lang.Mount{{Source: "/a", Target: "/b"}}}, own{})},
		"endpoint":   {true, identity(lang.Backend{}, lang.Container{Image: "debian:12"}, own{Endpoint: "here"})},
		"machines":   {true, identity(lang.Backend{Machines: &lang.Machines{Slots: 2, Pool: "p"}}, lang.Container{Image: "debian:12"}, own{})},
		"image":      {false, identity(lang.Backend{}, lang.Container{Image: "debian:13"}, own{})},
		"network":    {false, identity(lang.Backend{}, lang.Container{Image: "debian:12"}, own{Network: "none"})},
		"python":     {false, identity(lang.Backend{Python: "3.12"}, lang.Container{Image: "debian:12"}, own{})},
		"build args": {false, identity(lang.Backend{}, lang.Container{Image: "debian:12", Build: &lang.ImageBuild{Args: []lang.BuildArg{{Name: "A", Value: "1"}}}}, own{})},
		"dockerfile": {true, identity(lang.Backend{}, lang.Container{Image: "debian:12", Build: &lang.ImageBuild{Dockerfile: "/a", Context: "/"}}, own{})},
	} {
		if same := slices.Equal(base, c.id); same != c.same {
			t.Errorf("%s: the same is %v: %v and %v", name, same, base, c.id)
		}
	}
}
