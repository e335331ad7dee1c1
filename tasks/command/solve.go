package command

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Answer names the output of Solve's step i: a tree of artifacts, whose paths are absolute, without the first slash.
func Answer(i int) string { return "answer " + strconv.Itoa(i+1) }

// Solve is the task that produces answers in a container of agents: with a problem's own scripts or,
// without scripts, from the artifacts in the image. If a script fails, the artifacts that it left are
// judged.
type Solve struct {
	Steps   []SolveStep // in order, in the same container
	Workdir string      // absolute; "" means the image's
	GPU     bool
	Env     session.Environment
	// Inherited are the variables of Env whose secret values can change an outcome.
	Inherited    []session.Variable
	VerifyInputs []func() error // as of Run
	Lacks        error          // why it cannot run; nil means that it can
	Keep         session.Keep   // in no key

	Backend  backend.Backend // its sessions have the required network
	Identity func(context.Context) (backend.Identity, error)
}

// SolveStep produces an answer.
type SolveStep struct {
	Workdir   string // dependency with the tree for the working directory, where its setup.sh runs; "" means none
	Files     string // dependency with the tree of /solution; "" means no script
	Script    string // its name there
	Timeout   time.Duration
	After     []SolveCommand // run after the script, whatever their exit codes
	Artifacts []string       // absolute paths of files and directories; missing ones are omitted
}

// SolveCommand is a command line of a shell.
type SolveCommand struct {
	Line    string
	Timeout time.Duration
}

// Paths in the session's workspace, and for scripts.
const (
	solutionDir = "solution"
	workdirsDir = "workdirs" // a directory for each step
	packedDir   = "packed"
	packedName  = "artifacts.tar"

	solutionPlace = "/solution"
	workdirsPlace = "/fevalgraph/workdirs"
	packedPlace   = "/fevalgraph/packed"
)

// logPlaces are directories in containers of agents. The workspace contains them at the same paths.
var logPlaces = []string{"/logs/agent", "/logs/artifacts", "/logs/verifier"}

// Describe implements graph.Task.
func (t *Solve) Describe(ctx context.Context, m *graph.Manifest) error {
	if t.Lacks != nil {
		return t.Lacks
	}
	m.Int("recipe", 1)
	m.String("workdir", t.Workdir)
	m.Bool("gpu", t.GPU)
	for i, step := range t.Steps {
		of := fmt.Sprintf(" of step %d", i+1)
		m.Bool("workdir"+of, step.Workdir != "")
		m.String("script"+of, step.Script)
		m.String("timeout"+of, step.Timeout.String())
		for n, after := range step.After {
			m.String(fmt.Sprintf("command %d after the script%s", n+1, of), after.Line+" within "+after.Timeout.String())
		}
		m.Strings("artifacts"+of, step.Artifacts)
	}
	t.Env.Describe(m)
	session.DescribeInherited(m, t.Inherited)
	return session.WithClass(session.DescribeBackend(ctx, m, t.Identity))
}

// Run implements graph.Task.
func (t *Solve) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	outcome, err := t.run(ctx, w)
	return outcome, session.WithClass(err)
}

func (t *Solve) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if err := session.RequirePlaces(ctx, t.Backend, t.GPU); err != nil {
		return graph.Outcome{}, err
	}
	plan, err := t.plan(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	return session.Run(ctx, w, plan, func(s *session.Session) (graph.Outcome, error) {
		k := &session.Keeper{Ctx: ctx, Store: w.Store}
		var log []byte
		for i, step := range t.Steps {
			said, err := t.step(ctx, w, s, i)
			log = append(log, said...)
			for _, after := range step.After {
				if err == nil {
					said, err = t.execute(ctx, w, s, after.Line, backend.Command{Argv: []string{"bash", "-c", after.Line}, Timeout: after.Timeout})
					log = append(log, said...)
				}
			}
			var answer cache.Output
			if err == nil {
				answer, err = t.answer(ctx, w, s, i)
			}
			if err != nil {
				return graph.Outcome{}, err
			}
			k.Outcome.Outputs = append(k.Outcome.Outputs, answer)
		}
		k.Keep(OutputLog, log)
		return k.Outcome, k.Err
	})
}

// plan returns the description of the workspace, without files of solutions.
func (t *Solve) plan(ctx context.Context, w *graph.Work) (session.Plan, error) {
	p := session.Plan{Backend: t.Backend, Spec: backend.Spec{Name: w.Addr}, Env: t.Env, VerifyInputs: t.VerifyInputs, Keep: t.Keep}
	entries := []cache.Entry{{Path: packedDir, Dir: true}}
	p.Spec.Places = []backend.Place{{Path: packedDir, At: packedPlace}}
	for _, place := range logPlaces {
		entries = append(entries, cache.Entry{Path: place[1:], Dir: true})
		p.Spec.Places = append(p.Spec.Places, backend.Place{Path: place[1:], At: place})
	}
	add := func(dir, at string, has func(SolveStep) bool) {
		if slices.ContainsFunc(t.Steps, has) {
			entries = append(entries, cache.Entry{Path: dir, Dir: true})
			p.Spec.Places = append(p.Spec.Places, backend.Place{Path: dir, At: at})
		}
	}
	add(solutionDir, solutionPlace, func(s SolveStep) bool { return s.Files != "" })
	add(workdirsDir, workdirsPlace, func(s SolveStep) bool { return s.Workdir != "" })
	tree, err := cache.BuildTree(entries)
	if err == nil {
		err = tree.Store(ctx, w.Store)
	}
	if err != nil {
		return p, fmt.Errorf("creating directories: %w", err)
	}
	p.Spec.Inputs = []backend.Input{{Tree: tree.Root}}
	return p, nil
}

// solve is the shell code that execs the script. HOME is that of its user, unless the environment sets it.
const solve = `[ -n "${HOME-}" ] || { unset HOME; export HOME=~; }
chmod +x "$0" 2>/dev/null
exec "$0"`

// setUp copies the files of a step, and runs the script for that.
const setUp = `cp -R "$1/." . && { [ ! -e setup.sh ] || exec bash setup.sh; }`

// step sets up a step, runs its script, and returns its output and exit.
func (t *Solve) step(ctx context.Context, w *graph.Work, s *session.Session, i int) (said []byte, err error) {
	step := t.Steps[i]
	if step.Workdir != "" {
		dir := "/" + strconv.Itoa(i+1)
		if err := t.place(ctx, w, s, step.Workdir, workdirsDir+dir); err != nil {
			return nil, err
		}
		var why error
		if said, why, err = t.command(ctx, s, "setup.sh", backend.Command{Argv: []string{"bash", "-c", setUp, "bash", workdirsPlace + dir}}); cmp.Or(err, why) != nil {
			return said, cmp.Or(err, why)
		}
	}
	if step.Files == "" {
		return said, nil
	}
	if err := t.place(ctx, w, s, step.Files, solutionDir); err != nil {
		return said, err
	}
	printed, err := t.execute(ctx, w, s, step.Script, backend.Command{Argv: []string{"bash", "-c", solve, solutionPlace + "/" + step.Script}, Timeout: step.Timeout})
	return append(said, printed...), err
}

// place puts the tree of a dependency into the workspace.
func (t *Solve) place(ctx context.Context, w *graph.Work, s *session.Session, as, at string) error {
	tree, ok := w.Input(as, tasks.TreeOutput)
	if !ok {
		return fmt.Errorf("dependency %q has no tree", as)
	}
	return s.Place(ctx, backend.Input{Path: at, Tree: tree})
}

// execute runs a command. Its failure is only reported.
func (t *Solve) execute(ctx context.Context, w *graph.Work, s *session.Session, name string, c backend.Command) ([]byte, error) {
	said, why, err := t.command(ctx, s, name, c)
	if err != nil || why == nil {
		return said, err
	}
	w.Note(why.Error())
	return fmt.Appendf(said, "[%v]\n", why), nil
}

// command runs a command in the working directory, and returns its output and the reason of a failure.
func (t *Solve) command(ctx context.Context, s *session.Session, name string, c backend.Command) (said []byte, why, err error) {
	c.Env, c.At = t.Env.Variables(), cmp.Or(t.Workdir, ".")
	ran, err := s.Execute(ctx, session.Program{Name: name, Command: c})
	if err == nil && session.Doubtful(ran.Exit) {
		err = s.Again(session.Again(name, ran.Exit))
	}
	if err != nil {
		return nil, nil, err
	}
	if ended := failure(ran.Exit, c.Timeout, ran.Output, nil); ended != nil {
		why = failed("%s: %v", name, ended)
	}
	return ran.Output, why, nil
}

// answer stores the artifacts of a step.
func (t *Solve) answer(ctx context.Context, w *graph.Work, s *session.Session, i int) (cache.Output, error) {
	var all []cache.Entry
	for _, place := range t.Steps[i].Artifacts {
		found, err := t.packed(ctx, w, s, strings.TrimPrefix(place, "/"))
		if err != nil {
			return cache.Output{}, fmt.Errorf("the artifact %s: %w", place, err)
		}
		all = append(all, found...)
	}
	tree, err := cache.BuildTree(all)
	if err == nil {
		err = tree.Store(ctx, w.Store)
	}
	if err != nil {
		return cache.Output{}, fmt.Errorf("storing artifacts: %w", err)
	}
	return cache.Output{Name: Answer(i), Digest: tree.Root, Tree: true}, nil
}

// packed stores a path of the container, relative to its root. It omits entries that trees cannot contain,
// such as a link out of the artifact.
func (t *Solve) packed(ctx context.Context, w *graph.Work, s *session.Session, at string) ([]cache.Entry, error) {
	present, socket, err := pack(ctx, s, backend.Command{At: "/", Env: t.Env.Variables()}, at, packedPlace+"/"+packedName)
	if !present || err != nil {
		return nil, err
	}
	omit := func(why string) { w.Note("left out of the answer: " + why) }
	if socket != "" {
		omit(socket + " is a socket")
	}
	u := unpacker{root: at, kind: kindAny, store: w.Store, files: map[string]cache.Entry{}, omit: omit}
	found, err := u.collect(ctx, s, packedDir+"/"+packedName)
	for i := range found {
		found[i].Path = path.Join(path.Dir(at), found[i].Path)
	}
	return found, err
}
