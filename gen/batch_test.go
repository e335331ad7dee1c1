package gen

import (
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Requests are retried as their own generator specifies, and other work is not retried.
func TestRetry(t *testing.T) {
	p := newProject(t)
	problem := p.problem("p", "a task", "another")
	often, once := p.generator(nil, 1, problem), p.generator(nil, 1, problem)
	once.Name, once.Ref, once.Retry = "once", "generator.once", lang.Retry{Attempts: 1}
	b := New([]*Generator{often, once}, nil)
	for _, s := range b.Steps {
		want := graph.Retry{Attempts: s.Generator.Retry.Attempts, Wait: s.Generator.Retry.Wait, Longest: time.Minute}
		if got := b.Graph.Node(s.Answer).Retry; got != want {
			t.Errorf("the request of %s has %+v, want %+v", s.Generator.Ref, got, want)
		}
		for _, id := range []graph.ID{s.Prompt, s.Files} {
			if n := b.Graph.Node(id); n.Retry != (graph.Retry{}) {
				t.Errorf("%s has %+v, want no retries", n.Addr, n.Retry)
			}
		}
	}
}
