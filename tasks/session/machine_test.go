package session

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
)

func TestProgramsIn(t *testing.T) {
	for line, want := range map[string]string{
		"uv add -r requirements.txt":             "uv",
		"cd app && npm ci":                       "cd npm",
		"A=1 B=2 make; ./build.sh || bin/x":      "make",
		"if true; then exec /opt/x/bin/y z; fi":  "true /opt/x/bin/y fi",
		"(apt-get update) | tee log\nsh setup":   "apt-get tee sh",
		`python3 -c "import x; y" && npm 'a; b'`: "python3 npm",
		`test -e "$A/b" || npm`:                  "test npm",
		`a "$(b "c; d")"; e`:                     "a",
		"a <<E\nb\nE":                            "a",
		"$TOOL install; make":                    "make",
		"":                                       "",
	} {
		if got := strings.Join(programsIn(line), " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// An answer counts for a moment, since an index can become unreachable at any time. Programs are queried only if a
// shell found none.
func TestLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, code := "", 0
		var asked []string
		b := fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
			asked = append(asked, strings.Join(c.Command.Argv[4:], " ")+" "+strings.Join(c.Command.Env, " "))
			io.WriteString(c.Command.Output, said)
			return backend.Exit{Code: code}, nil
		})
		m := &Machine{}
		lacks := func(exit int, secrets ...string) string {
			got, err := m.Lacks(t.Context(), Setup{Backend: b, Line: "make all", Exit: backend.Exit{Code: exit}, Secrets: secrets})
			if err != nil {
				t.Error(err)
			}
			return got
		}
		if got := lacks(1) + lacks(2); got != "" || len(asked) != 1 || asked[0] != " " {
			t.Errorf("%q, queries %q", got, asked)
		}
		said, code = "error: x\n  tcp connect error to hunter2\n", 4
		if got := lacks(1); got != "" {
			t.Errorf("queried again at once: %q", got)
		}
		time.Sleep(lasting)
		if got := lacks(1, "hunter2"); !strings.HasPrefix(got, "no network: tcp connect error") || strings.Contains(got, "hunter2") {
			t.Errorf("%q", got)
		}
		said, code = "make\n", 3
		if got := lacks(127); got != "a program is missing: make" || asked[len(asked)-1] != "make " {
			t.Errorf("%q, queries %q", got, asked)
		}
		m = &Machine{Offline: true}
		lacks(1)
		if last := asked[len(asked)-1]; last != " UV_OFFLINE=1" {
			t.Errorf("offline: queries %q", last)
		}
		if b.Opens() != b.Closes() {
			t.Errorf("%d sessions opened, %d closed", b.Opens(), b.Closes())
		}
	})
}
