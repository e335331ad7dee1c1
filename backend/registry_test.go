package backend_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
)

func entry(id string) backend.Entry {
	return backend.Entry{ID: id, Kind: "test", Name: "node " + id}
}

func registry(t *testing.T, dir, run string, ids ...string) *backend.Registry {
	t.Helper()
	r, err := backend.OpenRegistry(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if err := r.Add(entry(id)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func ids(entries []backend.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Run+"/"+e.ID)
	}
	return out
}

// reaper succeeds except for the ids in fails, and notes what it was given.
func reaper(seen *[]backend.Entry, fails ...string) map[string]func(context.Context, backend.Entry) error {
	return map[string]func(context.Context, backend.Entry) error{
		"test": func(_ context.Context, e backend.Entry) error {
			*seen = append(*seen, e)
			if slices.Contains(fails, e.ID) {
				return errors.New("stuck")
			}
			return nil
		},
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRegistryLeavesNoFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "sessions")
	r := registry(t, dir, "run", "a", "b")
	for _, id := range []string{"a", "b", "b", "never"} {
		if err := r.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("left %q", got)
	}
	if err := r.Add(entry("c")); err == nil {
		t.Error("a closed registry takes sessions")
	}
}

func TestReap(t *testing.T) {
	dir := t.TempDir()
	living := registry(t, dir, "living", "l")
	defer living.Close()
	dead := registry(t, dir, "dead", "a", "b", "c")
	if err := dead.Remove("b"); err != nil {
		t.Fatal(err)
	}
	if err := dead.Close(); err != nil { // the remaining entries
		t.Fatal(err)
	}
	left, err := backend.Leftovers(dir)
	if got, want := ids(left), []string{"dead/a", "dead/c"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("leftovers: got %q, %v; want %q", got, err, want)
	}

	var seen []backend.Entry
	reaped, err := backend.Reap(t.Context(), dir, reaper(&seen, "c"))
	if err != nil || len(reaped) != 2 || reaped[0].Err != nil || reaped[1].Err == nil {
		t.Errorf("got %+v, %v", reaped, err)
	}
	if got, want := ids(seen), []string{"dead/a", "dead/c"}; !slices.Equal(got, want) || seen[0].Name != "node a" {
		t.Errorf("reaper saw %+v, want %q", seen, want)
	}
	// Only sessions that could not be ended stay listed.
	seen = nil
	if reaped, err = backend.Reap(t.Context(), dir, nil); err != nil || len(reaped) != 1 || reaped[0].Err == nil {
		t.Errorf("without a reaper: %+v, %v", reaped, err)
	}
	reaped, err = backend.Reap(t.Context(), dir, reaper(&seen))
	if got, want := ids(seen), []string{"dead/c"}; err != nil || len(reaped) != 1 || !slices.Equal(got, want) {
		t.Errorf("second time: %q, %+v, %v; want %q", got, reaped, err, want)
	}
	if got, want := files(t, dir), []string{"living.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("files are %q, want %q", got, want)
	}
	if err := living.Remove("l"); err != nil {
		t.Errorf("the living run was disturbed: %v", err)
	}
}

func TestReapCancelled(t *testing.T) {
	dir := t.TempDir()
	if err := registry(t, dir, "dead", "a", "b").Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	reaped, err := backend.Reap(ctx, dir, map[string]func(context.Context, backend.Entry) error{
		"test": func(context.Context, backend.Entry) error { cancel(stop); return nil },
	})
	if !errors.Is(err, stop) || len(reaped) != 1 {
		t.Errorf("got %+v, %v", reaped, err)
	}
	left, err := backend.Leftovers(dir)
	if got := ids(left); err != nil || !slices.Equal(got, []string{"dead/b"}) {
		t.Errorf("leftovers: %q, %v", got, err)
	}
}

// Complete lines count after any crash.
func TestReapTornFile(t *testing.T) {
	const (
		a     = `{"op":"add","id":"a","kind":"test","opened":"2026-01-02T03:04:05Z"}` + "\n"
		b     = `{"op":"add","id":"b","kind":"test","opened":"2026-01-02T03:04:05Z"}` + "\n"
		goneA = `{"op":"remove","id":"a","kind":"","opened":"0001-01-01T00:00:00Z"}` + "\n"
	)
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"whole", a + b + goneA, []string{"dead/b"}},
		{"torn add", a + b[:30], []string{"dead/a"}},
		{"torn remove", a + goneA[:20], []string{"dead/a"}},
		{"torn and continued", a + b[:30] + "\n" + goneA + b, []string{"dead/b"}},
		{"no newline at the end", a + b[:len(b)-1], []string{"dead/a", "dead/b"}},
		{"garbage", "\x00\x00\n[]\n{}\n" + a, []string{"dead/a"}},
		{"added twice", a + b + a, []string{"dead/b", "dead/a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "dead.jsonl"), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var seen []backend.Entry
			_, err := backend.Reap(t.Context(), dir, reaper(&seen, "b"))
			if got := ids(seen); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
			// A torn tail does not swallow entries that the reaper appends.
			left, err := backend.Leftovers(dir)
			want := slices.DeleteFunc(slices.Clone(test.want), func(id string) bool { return id != "dead/b" })
			if got := ids(left); err != nil || !slices.Equal(got, want) {
				t.Errorf("leftovers: %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := registry(t, dir, "run")
	defer r.Close()
	if _, err := backend.OpenRegistry(dir, "run"); err == nil {
		t.Error("two owners of one run")
	}
	for _, run := range []string{"", ".", "..", "a/b", "/abs", ".hidden"} {
		if _, err := backend.OpenRegistry(dir, run); err == nil {
			t.Errorf("run id %q was taken", run)
		}
	}
	for _, e := range []backend.Entry{{}, {ID: "a"}, {Kind: "test"}} {
		if err := r.Add(e); err == nil {
			t.Errorf("%+v was taken", e)
		}
	}
	if left, err := backend.Leftovers(filepath.Join(dir, "absent")); left != nil || err != nil {
		t.Errorf("of no directory: %v, %v", left, err)
	}
}

// Reapers that start while a registry is being opened must not remove it.
func TestOpenRegistryAgainstReapers(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if _, err := backend.Reap(context.Background(), dir, nil); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 200 {
		r := registry(t, dir, "run", "a")
		if got := files(t, dir); !slices.Equal(got, []string{"run.jsonl"}) {
			t.Fatalf("files are %q", got)
		}
		if err := errors.Join(r.Remove("a"), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-done
}

func TestLiving(t *testing.T) {
	dir := t.TempDir()
	lives := func(run string, want bool) {
		t.Helper()
		if got, err := backend.Living(dir, run); err != nil || got != want {
			t.Errorf("Living(%q) is %v, %v, want %v", run, got, err, want)
		}
	}
	lives("one", false)
	r, err := backend.OpenRegistry(dir, "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(backend.Entry{ID: "a", Kind: "local"}); err != nil {
		t.Fatal(err)
	}
	lives("one", true)
	lives("two", false)
	lives("../one", false)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	lives("one", false) // its file is still there
}
