package tasks

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// builder keeps images in memory: their contents are the Dockerfile's first
// word and the files of the context whose names it has.
type builder struct {
	base   string // the image that the base's name refers to
	images map[cache.Digest]bool
	last   backend.Recipe
	builds int
	err    error
	during func() // a build
}

func (b *builder) Ingredients(context.Context, []byte) (backend.Identity, error) {
	return backend.Identity{{Label: "base x", Value: b.base}}, b.err
}

func (b *builder) Build(_ context.Context, r backend.Recipe, out io.Writer) ([]byte, error) {
	b.builds++
	b.last = r
	if b.during != nil {
		b.during()
	}
	if b.err != nil {
		return nil, b.err
	}
	word, _, _ := strings.Cut(string(r.Text), "\n")
	content := []byte(word + b.base)
	b.images[cache.SumBytes(content)] = true
	_, err := io.WriteString(out, "built\n")
	return content, err
}

func (b *builder) Find(_ context.Context, content cache.Digest) (bool, error) {
	return b.images[content], nil
}

// build is a project with one image.
type build struct {
	t          *testing.T
	dir        string
	dockerfile string // its path
	builder    *builder
	store      *cache.Memory
	last       map[string]graph.Last
}

func newBuild(t *testing.T) *build {
	b := &build{t: t, dir: t.TempDir(), builder: &builder{images: map[cache.Digest]bool{}}, store: cache.NewMemory(), last: map[string]graph.Last{}}
	b.dockerfile = filepath.Join(b.dir, "Dockerfile")
	b.write("Dockerfile", "FROM x\n")
	b.write("a", "1")
	return b
}

func (b *build) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// user counts how often it runs in an image.
type user struct{ ran int }

func (u *user) Describe(context.Context, *graph.Manifest) error { return nil }
func (u *user) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	u.ran++
	return graph.Outcome{}, nil
}

// execute returns the states of context, image and user.
func (b *build) execute(force bool) (states string, image *graph.Status) {
	b.t.Helper()
	g := graph.New()
	tree := g.Add(graph.Node{Addr: "context", Kind: "context", Task: NewContext(b.dir, Sources{States: read{}, Store: b.store})})
	made := g.Add(graph.Node{Addr: "image", Kind: "image", Task: &Image{Dockerfile: b.dockerfile, Context: b.dir, Builder: b.builder},
		Deps: []graph.Dep{{On: tree, As: "context", Outputs: []string{TreeOutput}}}})
	used := g.Add(graph.Node{Addr: "user", Kind: "user", Task: &user{}, Deps: []graph.Dep{{On: made, As: "image", Outputs: []string{ImageOutput}}}})
	o := graph.Options{Store: b.store, Last: func(addr string) graph.Last { return b.last[addr] }, Pools: map[string]int{graph.CPUPool: 1}}
	if force {
		o.Force = func(n *graph.Node) bool { return n.Kind == "image" }
	}
	r, err := g.Execute(b.t.Context(), []graph.ID{used}, o)
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, id := range []graph.ID{tree, made, used} {
		b.last[g.Node(id).Addr] = r.Last(id)
		all = append(all, string(r.Status(id).State))
	}
	return strings.Join(all, " "), r.Status(made)
}

func (b *build) want(states string) *graph.Status {
	b.t.Helper()
	got, image := b.execute(false)
	if got != states {
		b.t.Errorf("states %q, want %q; the image: %s %s", got, states, image.Cause, image.Message)
	}
	return image
}

func TestImage(t *testing.T) {
	b := newBuild(t)
	b.want("done done done")
	b.want("cached cached cached")
	if b.builder.last.Dockerfile != "Dockerfile" || b.builder.last.Afresh {
		t.Errorf("recipe %+v", b.builder.last)
	}
	b.write("a", "2") // the image contains none of it
	b.want("done done cached")
	b.write("Dockerfile", "FROM y\n")
	if st := b.want("done done done"); st.Cause != "Dockerfile changed, context: Dockerfile changed" {
		t.Errorf("cause %q", st.Cause)
	}
	b.builder.base = "2"
	if st := b.want("cached done done"); st.Cause != "base x:  -> 2" && st.Cause != "base x added" {
		t.Errorf("cause %q", st.Cause)
	}
	clear(b.builder.images)
	if st := b.want("cached done cached"); st.Cause != "the image is no longer there" {
		t.Errorf("cause %q", st.Cause)
	}
	if states, _ := b.execute(true); states != "cached done cached" || !b.builder.last.Afresh {
		t.Errorf("forced: %s, %+v", states, b.builder.last)
	}
}

// An external Dockerfile is not in the context, whatever its name.
func TestImageOfDockerfileElsewhere(t *testing.T) {
	b := newBuild(t)
	b.dockerfile = filepath.Join(t.TempDir(), "Dockerfile")
	if err := os.WriteFile(b.dockerfile, []byte("FROM z\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.want("done done done")
	if b.builder.last.Dockerfile != "" || string(b.builder.last.Text) != "FROM z\n" {
		t.Errorf("recipe %+v", b.builder.last)
	}
}

func TestImageMistakes(t *testing.T) {
	b := newBuild(t)
	b.builder.during = func() {
		b.builder.err = &backend.SettingError{Setting: "dockerfile", Err: errors.New("no such command")}
	}
	st := b.want("done failed blocked")
	if !st.Input || st.Message != "dockerfile: no such command" {
		t.Errorf("%+v", st)
	}
	b.builder.err = errors.New("lost the daemon")
	b.want("cached broken blocked")
	b.builder.err, b.builder.during = nil, nil
	b.want("cached done done")
}

// A base that changes while the image is built is built on once more.
func TestBaseChangesMeanwhile(t *testing.T) {
	b := newBuild(t)
	b.builder.during = func() {
		if b.builder.builds == 1 {
			b.builder.base = "2"
		}
	}
	b.want("done done done")
	if b.builder.builds != 2 {
		t.Errorf("built %d times", b.builder.builds)
	}
	b.want("cached cached cached")
}
