package session

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
)

func TestKeep(t *testing.T) {
	store := cache.NewMemory()
	k := &Keeper{Ctx: t.Context(), Store: store}
	k.Keep("log", []byte("text"))
	k.JSON("result", map[string]int{"passed": 1})
	if k.Err != nil || len(k.Outcome.Outputs) != 2 {
		t.Fatalf("%v, %v", k.Outcome.Outputs, k.Err)
	}
	for i, want := range []struct{ name, content string }{{"log", "text"}, {"result", `{"passed":1}`}} {
		o := k.Outcome.Outputs[i]
		content, err := store.Open(t.Context(), o.Digest)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(content)
		if o.Name != want.name || string(got) != want.content || err != nil {
			t.Errorf("output %s: %q, %v", o.Name, got, err)
		}
	}
}

// full is a store that stores nothing.
type full struct {
	cache.Store
	puts int
}

var errFull = errors.New("the disk is full")

func (f *full) Put(context.Context, io.Reader) (cache.Digest, error) {
	f.puts++
	return cache.Digest{}, errFull
}

// TestFirstError checks that the first error stays and that no output is stored after it.
func TestFirstError(t *testing.T) {
	unencodable := make(chan int)
	for _, c := range []struct {
		name  string
		first func(k *Keeper)
		want  string
	}{
		{"storing", func(k *Keeper) { k.Keep("log", []byte("text")) }, "storing the log: the disk is full"},
		{"encoding", func(k *Keeper) { k.JSON("result", unencodable) }, "encoding the result: "},
	} {
		store := &full{}
		k := &Keeper{Ctx: t.Context(), Store: store}
		c.first(k)
		puts := store.puts
		k.Keep("later", []byte("more"))
		k.JSON("later", 1)
		k.JSON("later", unencodable)
		if k.Err == nil || !strings.HasPrefix(k.Err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.name, k.Err, c.want)
		}
		if store.puts != puts || len(k.Outcome.Outputs) != 0 {
			t.Errorf("%s: more is stored after the error", c.name)
		}
	}
}
