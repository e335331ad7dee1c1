package skypilot

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	done, err := c.alone(ctx)
	if err != nil {
		return fact{}, err
	}
	defer done()
	if answer, ok := p.facts.get(what); ok { // another caller asked meanwhile
		return answer, nil
	}
	answer, err := askMachine(ctx, c.client, what)
	if err != nil {
		return fact{}, err
	}
	c.told[what] = answer
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

// otherError says that a cluster is not what the pool's clusters were.
type otherError struct{ cluster, backend, difference string }

func (e *otherError) Error() string {
	return fmt.Sprintf("cluster %s is not what clusters of backend %s were: %s; run again, and what depends on it is judged by it", e.cluster, e.backend, e.difference)
}

// verify asks a cluster everything that is known of its kind and that it was not asked yet.
// What differs is an error: keys of this run were made of something else. If it replaces, it
// is remembered for the next run.
func (p *Pool) verify(ctx context.Context, c *cluster, replaces bool) error {
	done, err := c.alone(ctx)
	if err != nil {
		return err
	}
	defer done()
	p.facts.mu.Lock()
	known := maps.Clone(p.facts.known)
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
	first := ""
	for _, what := range slices.Sorted(maps.Keys(known)) {
		before := known[what]
		now, asked := c.told[what]
		if !asked {
			var err error
			if now, err = askMachine(ctx, c.client, what); err != nil {
				return fmt.Errorf("asking cluster %s what it is: %w", c.lease.Cluster, err)
			}
			c.told[what] = now
		}
		if !reflect.DeepEqual(before, now) {
			changed[what] = now
			if first == "" {
				first = difference(what, before, now)
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	other := &otherError{c.lease.Cluster, p.opt.Name, first}
	if replaces {
		p.mu.Lock()
		p.wrong = other
		p.mu.Unlock()
		if err := p.facts.put(changed); err != nil {
			return err
		}
	}
	return other
}

// difference describes the first difference between two answers.
func difference(what string, before, now fact) string {
	for i := range max(len(before.Identity), len(now.Identity)) {
		was, is := fieldAt(before.Identity, i), fieldAt(now.Identity, i)
		switch {
		case was == is:
		case was.Label == is.Label:
			return fmt.Sprintf("%s was %q and is %q", is.Label, was.Value, is.Value)
		case is.Label == "":
			return fmt.Sprintf("%s was %q and is not there", was.Label, was.Value)
		default:
			return fmt.Sprintf("%s was not there and is %q", is.Label, is.Value)
		}
	}
	words := func(f fact) string { return strings.TrimSpace(f.Path + " " + f.Text) }
	return fmt.Sprintf("%s was %q and is %q", strings.TrimSpace(what), words(before), words(now))
}

func fieldAt(all backend.Identity, i int) (f backend.Field) {
	if i < len(all) {
		f = all[i]
	}
	return f
}
