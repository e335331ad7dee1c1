package requirements

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
)

func TestInside(t *testing.T) {
	var told string
	box := fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		in, _ := c.Files.Read("requirements.in")
		before, _ := c.Files.Read("requirements.txt")
		told = string(in) + "|" + string(before)
		c.Files.Write("requirements.txt", []byte("pytest==8.4.2\nattrs==25.3.0  # via pytest\n"))
		return backend.Exit{}, nil
	})
	inside := &Inside{Backend: box, Env: []string{"UV_INDEX=here"}}
	got, err := inside.Resolve(t.Context(), "/usr/bin/python3", []string{"pytest", "attrs>=1"}, []string{"pytest==8.4.2"})
	if want := []string{"attrs==25.3.0", "pytest==8.4.2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if want := "pytest\nattrs>=1\n|pytest==8.4.2\n"; told != want {
		t.Errorf("uv got %q, want %q", told, want)
	}
	c := box.Calls()[0].Command
	if want := "uv pip compile --quiet --no-config --no-header --no-annotate --generate-hashes --python /usr/bin/python3 --output-file requirements.txt requirements.in"; strings.Join(c.Argv, " ") != want {
		t.Errorf("ran %q", c.Argv)
	}
	if !c.Online || c.Timeout == 0 || !slices.Equal(c.Env, inside.Env) {
		t.Errorf("the command is %+v", c)
	}
	if box.Opens() != box.Closes() {
		t.Error("a session was left open")
	}
}

func TestInsideFails(t *testing.T) {
	unplugged := errors.New("unplugged")
	for _, try := range []struct {
		name         string
		said, wrote  string
		exit         backend.Exit
		err          error
		want         string
		unresolvable bool
	}{
		{name: "no solution", said: "  × No solution found when resolving dependencies:", exit: backend.Exit{Code: 1}, want: "cannot be met", unresolvable: true},
		{name: "no network", said: "error: Request failed", exit: backend.Exit{Code: 2}, want: "resolving requirements with uv: error: Request failed"},
		{name: "silent", exit: backend.Exit{Code: 3}, want: "exit code 3"},
		{name: "endless", exit: backend.Exit{Code: -1, TimedOut: true}, want: "longer than"},
		{name: "broken", err: unplugged, want: "unplugged"},
		{name: "nothing", wrote: "\n", want: "uv named no packages"},
	} {
		box := fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
			io.WriteString(c.Command.Output, try.said)
			c.Files.Write("requirements.txt", []byte(try.wrote))
			return try.exit, try.err
		})
		_, err := (&Inside{Backend: box}).Resolve(t.Context(), "python3", []string{"a"}, nil)
		var unresolvable *UnresolvableError
		if err == nil || !strings.Contains(err.Error(), try.want) || errors.As(err, &unresolvable) != try.unresolvable {
			t.Errorf("%s: %v, want %s", try.name, err, try.want)
		}
		if box.Opens() != box.Closes() {
			t.Errorf("%s: a session was left open", try.name)
		}
	}
}
