package skypilot

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// What is asked of machines.
const (
	factIdentity    = "identity"
	factBare        = "bare"
	factInterpreter = "interpreter"
	factPlatform    = "platform"
	factSandbox     = "sandbox"
	factIsolation   = "isolation" // known once there was a cluster
	factPrograms    = "programs " // and the words
)

// fact is an answer.
type fact struct {
	Identity backend.Identity `json:"identity,omitempty"`
	Path     string           `json:"path,omitempty"`
	Text     string           `json:"text,omitempty"`
}

// facts are what a pool's machines said of themselves. They outlive the machines: a run
// with nothing to do, or a plan, must not launch any to find out what they are. Each new
// cluster is asked the same again before it gets work.
type facts struct {
	path string

	mu    sync.Mutex
	known map[string]fact
}

func readFacts(path string) *facts {
	f := &facts{path: path, known: map[string]fact{}}
	text, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(text, &f.known) != nil || f.known == nil {
		f.known = map[string]fact{} // a damaged file: the machines know
	}
	return f
}

func (f *facts) get(what string) (fact, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer, ok := f.known[what]
	return answer, ok
}

// put remembers answers, in place of all others if they replace them.
func (f *facts) put(answers map[string]fact) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what, answer := range answers {
		f.known[what] = answer
	}
	text, err := json.MarshalIndent(f.known, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(f.path), 0o755)
	}
	if err == nil {
		err = atomicfile.Write(f.path, 0o644, append(text, '\n'))
	}
	return err
}

// know answers a question about the pool's machines: from memory, or by one of them.
func (p *Pool) know(ctx context.Context, what string) (fact, error) {
	if answer, ok := p.facts.get(what); ok {
		return answer, nil
	}
	c, err := p.acquire(ctx, nil)
	if err != nil {
		return fact{}, err
	}
	defer p.release(c)
	answer, err := askMachine(ctx, c.client, what)
	if err != nil {
		return fact{}, err
	}
	return answer, p.facts.put(map[string]fact{what: answer})
}

func askMachine(ctx context.Context, c *worker.Client, what string) (a fact, err error) {
	can := c.Backend().Capabilities()
	switch what {
	case factIdentity:
		a.Identity, err = c.Backend().Identity(ctx)
	case factBare:
		a.Identity, err = can.BareIdentity(ctx)
	case factInterpreter:
		a.Path, a.Text, err = can.Python.Interpreter(ctx)
	case factPlatform:
		a.Text, err = can.Python.Platform(ctx)
	case factIsolation:
		a.Text = can.Level()
	case factSandbox:
		a.Identity, err = c.Sandbox().Identity(ctx)
	default:
		a.Identity, err = can.Programs(ctx, strings.Fields(strings.TrimPrefix(what, factPrograms)))
	}
	return a, err
}

// verify asks a cluster everything that is known of its kind. What differs is
// remembered, and an error: keys of this run were made of something else.
func (p *Pool) verify(ctx context.Context, c *cluster) error {
	p.facts.mu.Lock()
	known := map[string]fact{}
	for what, answer := range p.facts.known {
		known[what] = answer
	}
	p.facts.mu.Unlock()
	if _, ok := known[factIsolation]; !ok {
		level, err := askMachine(ctx, c.client, factIsolation)
		if err == nil {
			err = p.facts.put(map[string]fact{factIsolation: level})
		}
		if err != nil {
			return err
		}
	}
	changed := map[string]fact{}
	var first string
	for what, before := range known {
		now, err := askMachine(ctx, c.client, what)
		if err != nil {
			return fmt.Errorf("asking cluster %s what it is: %w", c.lease.Cluster, err)
		}
		if !reflect.DeepEqual(before, now) {
			changed[what] = now
			first = difference(what, before, now)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := p.facts.put(changed); err != nil {
		return err
	}
	return fmt.Errorf("cluster %s is not what clusters of backend %s were: %s; run again, and what depends on it is judged by it", c.lease.Cluster, p.opt.Name, first)
}

// difference describes the first difference between two answers.
func difference(what string, before, now fact) string {
	for i, field := range now.Identity {
		if i >= len(before.Identity) || before.Identity[i] != field {
			was := "nothing"
			if i < len(before.Identity) {
				was = before.Identity[i].Value
			}
			return fmt.Sprintf("%s was %q and is %q", field.Label, was, field.Value)
		}
	}
	return fmt.Sprintf("%s was %q and is %q", strings.TrimSpace(what), before.Path+" "+before.Text, now.Path+" "+now.Text)
}
