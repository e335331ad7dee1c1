package gen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/gen/keypool"
	"github.com/fevalgraph/fevalgraph/gen/modeltest"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// answeredTwice returns the prompts that were answered more than once.
func answeredTwice(s *modeltest.Server) (twice []string, answered int) {
	times := map[string]int{}
	for _, r := range s.Requests() {
		if r.Status == http.StatusOK {
			answered++
			if times[r.Prompt]++; times[r.Prompt] == 2 {
				twice = append(twice, r.Prompt)
			}
		}
	}
	return twice, answered
}

func (p *project) problems(n int) (all []*lang.Problem) {
	for i := range n {
		all = append(all, p.problem(fmt.Sprintf("p%d", i), fmt.Sprintf("task number %d", i)))
	}
	return all
}

// A thousand requests over eight keys of an endpoint that allows each 60 a minute take no more
// than a tenth longer than they must, and no key is ever throttled.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests, keys, perMinute = 1000, 8, 60
		p := newProject(t)
		s := &modeltest.Server{PerMinute: perMinute, Delay: 20 * time.Second}
		network := modeltest.Start(s)
		defer network.Stop()
		g := p.generator(network, keys, p.problem("p", "a task"))
		g.Attempts = requests
		var all []keypool.Key
		for i := range keys {
			all = append(all, keypool.Key{Name: "secret.k", Value: fmt.Sprintf("sk-secret-%d", i)})
		}
		g.Keys = keypool.New(all, keypool.Limits{PerMinute: perMinute, Concurrency: perMinute})
		started := time.Now()
		rep, _ := p.run(t.Context(), New([]*Generator{g}, nil))
		took := time.Since(started)
		ideal := requests*time.Minute/(keys*perMinute) + s.Delay
		if rep.Broken+rep.Failed+rep.Blocked > 0 || took > ideal*11/10 {
			t.Errorf("%+v in %v, which could be %v", rep, took, ideal)
		}
		if n := len(s.Requests()); n != requests || s.Answered() != requests {
			t.Errorf("%d requests, %d answered", n, s.Answered())
		}
		t.Logf("%d requests in %v, ideal %v", requests, took, ideal)
	})
}

// Faults that pass cost attempts, a throttled or refused key costs none, and each prompt is
// answered once.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		s := &modeltest.Server{Refuse: map[string]int{"sk-secret-1": 401, "sk-secret-3": 403}, Fault: func(n int, _ modeltest.Request) modeltest.Fault {
			switch {
			case n%13 == 0:
				return modeltest.Throttle
			case n%11 == 0:
				return modeltest.Cut
			case n%7 == 0:
				return modeltest.Fail
			case n%101 == 0:
				return modeltest.Hang
			}
			return modeltest.None
		}}
		network := modeltest.Start(s)
		defer network.Stop()
		g := p.generator(network, 5, p.problems(300)...)
		g.Retry.Attempts = 50 // which request has which fault is by chance
		b := New([]*Generator{g}, nil)
		rep, placed := p.run(t.Context(), b)
		if rep.Broken+rep.Failed+rep.Blocked > 0 || len(placed) != 300 {
			t.Fatalf("%+v", rep)
		}
		if twice, answered := answeredTwice(s); len(twice) > 0 || answered != 300 {
			t.Errorf("%d answers, twice of %q", answered, twice)
		}
		var notes []string
		retried := 0
		for _, e := range p.events {
			switch e := e.(type) {
			case event.NodeNote:
				notes = append(notes, e.Text)
			case event.NodeRetry:
				retried++
			}
		}
		said := strings.Join(notes, "\n")
		if len(notes) != 2 || !strings.Contains(said, "the API key of secret.k1 is put aside: 401 Unauthorized") || !strings.Contains(said, "secret.k3 is put aside: 403 Forbidden") || retried < 300/11 {
			t.Errorf("%d retries, notes %q", retried, said)
		}
		// A second call sends no prompt.
		before := len(s.Requests())
		rep, placed = p.run(t.Context(), New([]*Generator{p.generator(network, 5, b.problems()...)}, nil))
		if len(s.Requests()) != before || rep.Executed > 0 || strings.Contains(outcomes(placed), string(Written)) {
			t.Errorf("%d more requests, %d nodes ran", len(s.Requests())-before, rep.Executed)
		}
	})
}

func (b *Batch) problems() (all []*lang.Problem) {
	for _, s := range b.Steps {
		all = append(all, s.Problem)
	}
	return all
}

// Answers before an interruption are saved, and their files written.
func TestInterruptedAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		var came atomic.Int32
		s := &modeltest.Server{Delay: time.Second}
		s.Answer = func(r modeltest.Request) string {
			if came.Add(1) == 40 {
				cancel(errors.New("interrupted"))
			}
			return "```\n" + r.Prompt[len(r.Prompt)-20:] + "```\n"
		}
		network := modeltest.Start(s)
		defer network.Stop()
		problems := p.problems(100)
		g := p.generator(network, 2, problems...)
		g.Keys = keypool.New([]keypool.Key{{Name: "secret.k", Value: "sk-secret-0"}}, keypool.Limits{Concurrency: 8})
		rep, placed := p.run(ctx, New([]*Generator{g}, nil))
		kept := strings.Count(outcomes(placed), string(Written))
		if rep.Interrupted == 0 || kept == 0 || kept >= 40 {
			t.Fatalf("%d kept, %+v", kept, rep)
		}
		asked := len(s.Requests())
		rep, placed = p.run(t.Context(), New([]*Generator{p.generator(network, 2, problems...)}, nil))
		// An answer without files at the end of the call is saved, too.
		if more := len(s.Requests()) - asked; more > 100-kept || more < 100-asked || rep.Interrupted > 0 {
			t.Errorf("%d more requests after %d answers", more, kept)
		}
		if same := strings.Count(outcomes(placed), string(Same)); same != kept || len(placed) != 100 {
			t.Errorf("%d of %d exist", same, len(placed))
		}
	})
}

// Prompts that can never be answered are sent at most once a slot; the error names the fix.
func TestWrong(t *testing.T) {
	for name, c := range map[string]struct {
		server *modeltest.Server
		said   string
		most   int
	}{
		"model":   {&modeltest.Server{Models: []string{"large"}}, `generator.small: http://model/v1 has no model "small" (hint: it has large)`, 8},
		"keys":    {&modeltest.Server{Refuse: map[string]int{"sk-secret-0": 401, "sk-secret-1": 401}}, "generator.small: no API key is left: secret.k0: 401 Unauthorized", 16},
		"moved":   {&modeltest.Server{Fault: func(int, modeltest.Request) modeltest.Fault { return modeltest.Moved }}, "http://model/v1 leads elsewhere", 8},
		"refused": {&modeltest.Server{Refuse: map[string]int{"sk-secret-0": 400, "sk-secret-1": 400}}, "http://model/v1 refuses the request: 400 Bad Request", mostRejected + 8},
		"forever": {&modeltest.Server{Fault: func(int, modeltest.Request) modeltest.Fault { return modeltest.Fail }}, "500 Internal Server Error", 100 * 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProject(t)
				network := modeltest.Start(c.server)
				defer network.Stop()
				g := p.generator(network, 2, p.problems(100)...)
				g.Keys = keypool.New([]keypool.Key{{Name: "secret.k0", Value: "sk-secret-0"}, {Name: "secret.k1", Value: "sk-secret-1"}}, keypool.Limits{Concurrency: 4})
				rep, placed := p.run(t.Context(), New([]*Generator{g}, nil))
				if n := len(c.server.Requests()); n > c.most {
					t.Errorf("%d requests", n)
				}
				if name == "forever" && rep.Broken != 100 || name != "forever" && rep.InputErrors != 100 {
					t.Errorf("%+v", rep)
				}
				for _, one := range placed {
					if one.Outcome != NoAnswer || !strings.Contains(one.Reason, c.said) {
						t.Fatalf("%s: %s", one.Outcome, one.Reason)
					}
				}
				if got := p.files("generated"); got != "" {
					t.Errorf("there is %s", got)
				}
			})
		})
	}
}

// One request that is refused, such as for its length, is the only one.
func TestRefusedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		network := modeltest.Start(&modeltest.Server{Fault: func(_ int, r modeltest.Request) modeltest.Fault {
			if strings.HasSuffix(r.Prompt, "task number 7\n") {
				return modeltest.TooLong
			}
			return modeltest.None
		}})
		defer network.Stop()
		rep, placed := p.run(t.Context(), New([]*Generator{p.generator(network, 1, p.problems(30)...)}, nil))
		if rep.InputErrors != 1 || strings.Count(outcomes(placed), string(Written)) != 29 {
			t.Errorf("%+v: %s", rep, outcomes(placed))
		}
	})
}

// No request is sent that could bring the cost above the limit.
func TestMaxCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		s := &modeltest.Server{Delay: time.Second}
		network := modeltest.Start(s)
		defer network.Stop()
		g := p.generator(network, 1, p.problems(50)...)
		g.Parameters = `{"max_tokens": 10}` // a cent each
		g.Budget.Max = 0.1
		rep, _ := p.run(t.Context(), New([]*Generator{g}, nil))
		if spent := g.Asked(); spent.Cost > g.Budget.Max || spent.Requests < 5 || rep.Skipped != 50-spent.Requests || rep.Broken > 0 {
			t.Errorf("%+v, %+v", spent, rep)
		}
		for id := range graph.ID(len(rep.Nodes)) {
			if st := rep.Status(id); st.State == event.Skipped && !strings.HasPrefix(st.Message, "not requested: ") {
				t.Error(st.Message)
			}
		}
	})
}
