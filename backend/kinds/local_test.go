package kinds

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
)

func site(t *testing.T, env map[string]string) *kind.Site {
	t.Helper()
	dir := t.TempDir()
	return &kind.Site{Root: filepath.Join(dir, "project"), State: filepath.Join(dir, "project/.state"), UserState: filepath.Join(dir, "user"),
		LookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok }}
}

// The isolation of a block has precedence over the environment's, which must be a level.
func TestIsolationLevel(t *testing.T) {
	for _, test := range []struct{ block, env, want, err string }{
		{"", "", "", ""},
		{"", "none", "none", ""},
		{"full", "none", "full", ""},
		{"full", "nonsense", "full", ""},
		{"", "nonsense", "", "want one of"},
	} {
		o := local.Options{Confinement: local.Confinement{Isolation: test.block}}
		err := isolate(site(t, map[string]string{isolationVariable: test.env}), &o, nil, nil)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		if err != nil || string(o.Isolation) != test.want {
			t.Errorf("%+v: %q, %v", test, o.Isolation, err)
		}
	}
}

// Commands see neither the project nor its state nor the user's, and of other files only named ones, relative to the
// project's directory or the home.
func TestIsolationPaths(t *testing.T) {
	home := t.TempDir()
	s := site(t, map[string]string{"HOME": home})
	var o local.Options
	if err := isolate(s, &o, []string{"tools", "~/data", "/opt/x/../y"}, []string{"~/scratch"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Hidden, []string{s.UserState, s.Root, s.State}) {
		t.Errorf("hidden are %q", o.Hidden)
	}
	if want := []string{filepath.Join(s.Root, "tools"), filepath.Join(home, "data"), "/opt/y", filepath.Join(home, "scratch")}; !slices.Equal(o.Readable, want) {
		t.Errorf("readable are %q, want %q", o.Readable, want)
	}
	if want := []string{filepath.Join(home, "scratch")}; !slices.Equal(o.Unhashed, want) {
		t.Errorf("not hashed are %q, want %q", o.Unhashed, want)
	}
}

func TestSearchPath(t *testing.T) {
	s := site(t, map[string]string{"PATH": "/caller"})
	b := &lang.Backend{}
	if got := searchPath(s, b); got != "/caller" {
		t.Errorf("PATH is %s", got)
	}
	b.Env = []lang.EnvVar{{Name: "A", Value: "x"}, {Name: "PATH", Value: "/own"}}
	if got := searchPath(s, b); got != "/own" {
		t.Errorf("PATH is %s", got)
	}
}
