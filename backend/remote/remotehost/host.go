package remotehost

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// Run executes the task in an input root, dir, and writes its result there. An error means that the
// machine failed; no result is written.
func Run(ctx context.Context, dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, wire.TaskFile))
	if err != nil {
		return err
	}
	var task wire.Task
	if err := json.Unmarshal(text, &task); err != nil {
		return fmt.Errorf("reading the task: %w", err)
	}
	if task.Protocol != wire.Protocol {
		return fmt.Errorf("the task is of protocol %d, not %d", task.Protocol, wire.Protocol)
	}
	result := wire.Result{Protocol: wire.Protocol}
	result.Host, _ = os.Hostname()
	result.Failure = worker.FailureOf(do(ctx, dir, &task, &result))
	return os.WriteFile(filepath.Join(dir, wire.ResultFile), wire.Encode(&result), 0o644)
}

// host is the machine, for one task.
type host struct {
	dir      string // the input root
	base     string // directory of this user on the machine
	task     *wire.Task
	store    *inputs
	registry *backend.Registry
	known    map[string]facts.Fact // answers of this machine to earlier actions of the run
	ends     []func() error
}

// Directories of base, next to workspaces.
const (
	sessionsDir     = "sessions"
	answersDir      = "answers"
	environmentsDir = "environments"
	homeDir         = "home" // of tools that are queried
)

func do(ctx context.Context, dir string, task *wire.Task, result *wire.Result) (err error) {
	h := &host{dir: dir, task: task, store: newInputs(dir), base: filepath.Join(task.Host.Scratch, fmt.Sprintf("fevalgraph-%d", os.Getuid()))}
	if h.base, err = workspace.Scratch(h.base); err != nil {
		return &backend.SettingError{Setting: "scratch", Err: err, Hint: "use a directory of the workers' machines that actions can write to"}
	}
	if err := h.reap(ctx); err != nil {
		return err
	}
	if h.registry, err = backend.OpenRegistry(filepath.Join(h.base, sessionsDir), rand.Text()); err != nil {
		return err
	}
	h.ends = append(h.ends, h.registry.Close)
	defer func() {
		for _, end := range slices.Backward(h.ends) {
			err = errors.Join(err, end())
		}
	}()
	if result.Facts, result.Different, err = h.answer(ctx); err != nil || len(result.Different) > 0 {
		return err
	}
	switch {
	case task.Session != nil && task.Session.Prepare != "":
		return h.prepare(ctx, task.Session, result)
	case task.Session != nil:
		return h.step(ctx, task.Session, result)
	case len(task.Programs) > 0:
		return h.programs(ctx, result)
	}
	return nil
}

// reap ends and removes the sessions of killed actions.
func (h *host) reap(ctx context.Context) error {
	reapers := map[string]func(context.Context, backend.Entry) error{local.Kind: local.Reap, gojudge.Kind: gojudge.Reap}
	_, err := backend.Reap(ctx, filepath.Join(h.base, sessionsDir), reapers)
	return err
}

// backend returns the machine's backend.
func (h *host) backend(session string) *local.Backend {
	o := h.task.Host
	level, tried := h.known[facts.Isolation]
	if tried {
		o.Isolation = level.Text
	}
	return local.New(h.store, local.Options{
		Confinement: local.Confinement{Tried: tried, Isolation: o.Isolation, Hidden: []string{h.dir}},
		Probes:      local.Probes{Python: o.Python, Versions: o.Versions, Path: o.Path, Env: []string{"PATH=" + o.Path, "HOME=" + filepath.Join(h.base, homeDir)}},
		Lifecycle:   local.Lifecycle{Scratch: h.base, Registry: h.registry, Session: session},
	})
}

// sandbox returns a go-judge sandbox, or nil if the action does not contain go-judge.
func (h *host) sandbox() backend.Sandbox {
	program := filepath.Join(h.dir, wire.JudgeFile)
	if _, err := os.Stat(program); err != nil {
		return nil
	}
	server := gojudge.Start(h.store, gojudge.Process{Binary: program, Path: h.task.Host.Path, Scratch: h.base, Registry: h.registry, Rlimits: true})
	h.ends = append(h.ends, server.Close)
	return gojudge.New(server, gojudge.Options{Versions: h.task.Host.JudgeVersions})
}

// answer queries the machine for everything that the task requests and expects. It reuses the answers of
// earlier actions of the same run.
func (h *host) answer(ctx context.Context) (answers, different map[string]facts.Fact, err error) {
	questions := slices.Sorted(maps.Keys(h.task.Expect))
	for _, what := range h.task.Ask {
		if !slices.Contains(questions, what) {
			questions = append(questions, what)
		}
	}
	sum := sha256.Sum256(wire.Encode(h.task.Host))
	file := facts.Read(filepath.Join(h.base, answersDir, hex.EncodeToString(sum[:8])+".json"), proof.Place{})
	known, added := file.All(), map[string]facts.Fact{}
	h.known = known
	var made *local.Backend
	var sandbox backend.Sandbox
	for _, what := range questions {
		if _, ok := known[what]; ok {
			continue
		}
		if made == nil {
			made = h.backend("")
			if err := os.MkdirAll(filepath.Join(h.base, homeDir), 0o700); err != nil {
				return nil, nil, err
			}
			h.tidy()
		}
		var a facts.Fact
		switch what {
		case wire.Place:
			a.Text = h.base
		case wire.GPU:
			if absent := made.Capabilities().GPU(ctx); absent != nil {
				a.Text = absent.Error()
			}
		case facts.Sandbox:
			if sandbox == nil {
				sandbox = h.sandbox()
			}
			a, err = facts.Ask(ctx, made, sandbox, what)
		default:
			a, err = facts.Ask(ctx, made, nil, what)
		}
		if err != nil {
			return nil, nil, err
		}
		known[what], added[what] = a, a
	}
	if len(added) > 0 {
		if err := file.Put(added); err != nil {
			return nil, nil, err
		}
	}
	answers, different = map[string]facts.Fact{}, map[string]facts.Fact{}
	for _, what := range h.task.Ask {
		answers[what] = known[what]
	}
	for what, want := range h.task.Expect {
		if got := known[what]; !reflect.DeepEqual(decodedFact(got), decodedFact(want)) {
			different[what] = got
		}
	}
	return answers, different, nil
}

// decodedFact returns a fact in the form that decoding JSON returns.
func decodedFact(f facts.Fact) facts.Fact {
	if len(f.Identity) == 0 {
		f.Identity = nil
	}
	return f
}

// tools returns variables that commands get unless they set them.
func (h *host) tools() []string { return []string{"PATH=" + h.task.Host.Path} }
