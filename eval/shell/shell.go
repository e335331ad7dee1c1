// Package shell opens a shell in the workspace of a node: it creates the workspace with the node's inputs, adds
// a script that does the node's work, and starts the program. The caller must bring the inputs up to date. It
// stores no result.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"

	"github.com/kballard/go-shellquote"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// RunTests is the name of the script in a shell's workspace that does the node's work.
const RunTests = "run-tests"

// Request specifies the program to run in a workspace.
type Request struct {
	Command string    // for /bin/sh; "" means an interactive shell on the caller's terminal
	Out     io.Writer // receives the output of Command
	Notes   io.Writer // receives the output of set-up commands
	// Ready is called when the workspace exists; it can be nil.
	Ready func(Workspace)
}

// Workspace is the workspace of a shell.
type Workspace struct {
	Dir     string   // path inside the shell
	Tests   []string // the command that RunTests starts; nil for a case of a judge problem
	Outside bool     // programs run outside of the sandbox that judges them
}

// shellSession contains the session of a shell, its script, and how to run programs there.
type shellSession struct {
	backend.Session
	on      backend.Capabilities
	script  string
	shown   Workspace
	command func(argv []string) backend.Command
}

// HasWorkspace reports whether nodes of a kind have a workspace for a shell.
func HasWorkspace(kind string) bool {
	return slices.Contains([]string{plan.KindPytest, plan.KindCommand, plan.KindCheck, plan.KindInteract, plan.KindTask}, kind)
}

// NoWorkspace returns the error for a node without a workspace.
func NoWorkspace(addr string) error {
	return exit.With(exit.Usage, fmt.Errorf("%s has no workspace; name a cell, a task, or a node that runs something of a solution", addr))
}

// Maker creates workspaces of the nodes of a plan, from the outputs of their inputs.
type Maker struct {
	Plan        *plan.Plan
	Report      *graph.Report    // of the run that brought the inputs up to date
	Environment plan.Environment // as the plan was compiled
}

// Open makes the workspace of a node, runs a shell in it, and removes it. A case of a judge problem gets a
// workspace on this machine.
func (m *Maker) Open(ctx context.Context, id graph.ID, r Request) error {
	err := m.inWorkspace(ctx, id, r.Notes, func(w shellSession) error {
		if err := m.writeScript(ctx, w); err != nil {
			return err
		}
		if r.Ready != nil {
			r.Ready(w.shown)
		}
		return m.start(ctx, r, w)
	})
	var coded *exit.Error
	if err != nil && !errors.As(err, &coded) {
		return exit.With(exit.NotJudged, err)
	}
	return err
}

// inWorkspace creates the workspace of a node whose inputs are up to date, and closes it after use.
func (m *Maker) inWorkspace(ctx context.Context, id graph.ID, notes io.Writer, use func(shellSession) error) error {
	node, work := m.Plan.Graph.Node(id), m.Plan.Graph.Inputs(m.Report, id, m.Environment.Store)
	enter := func(on backend.Backend) func(backend.Session, []string, func([]string) backend.Command) error {
		return func(s backend.Session, tests []string, command func([]string) backend.Command) error {
			script := fmt.Sprintf("cd %s && exec %s \"$@\"\n", shellquote.Join(path.Join(s.Dir(), command(nil).Dir)), shellquote.Join(command(tests).Argv...))
			return use(shellSession{s, on.Capabilities(), script, Workspace{Dir: s.Dir(), Tests: tests}, command})
		}
	}
	switch task := node.Task.(type) {
	case *pytest.Run:
		return task.Enter(ctx, work, notes, enter(task.Backend))
	case *command.Run:
		return task.Enter(ctx, work, notes, enter(task.Backend))
	case *command.Task:
		return task.Enter(ctx, work, notes, enter(task.Backend))
	case *judge.Interact:
		byHand, err := task.ByHand(work)
		if err != nil {
			return err
		}
		return m.inCase(ctx, node.Addr, byHand, use)
	case *judge.Check:
		ran := node.Deps[slices.IndexFunc(node.Deps, func(d graph.Dep) bool { return d.As == judge.FromRun })].On
		byHand, err := task.ByHand(m.Plan.Graph.Node(ran).Task.(*judge.Run), m.Plan.Graph.Inputs(m.Report, ran, m.Environment.Store), work)
		if err != nil {
			return err
		}
		return m.inCase(ctx, node.Addr, byHand, use)
	}
	return NoWorkspace(node.Addr)
}

// inCase makes a workspace with the files of a judge problem's case, on this machine.
func (m *Maker) inCase(ctx context.Context, addr string, c judge.ByHand, use func(shellSession) error) error {
	block := &lang.Backend{Kind: "local", Name: "shell", Attributes: lang.NewAttributes(&lang.LocalAttributes{PrivateNetwork: true})}
	env := append([]string{"LANG=C.UTF-8", "TZ=UTC"}, m.Environment.Tools(block)...)
	local, err := m.Environment.Executor(block, env)
	if err != nil {
		return err
	}
	s, err := local.Backend.Open(ctx, backend.Spec{Name: addr})
	if err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	defer s.Close(context.WithoutCancel(ctx))
	if err := m.place(ctx, s, c.Files); err != nil {
		return err
	}
	return use(shellSession{s, local.Backend.Capabilities(), caseScript(c), Workspace{Dir: s.Dir(), Outside: true}, func(argv []string) backend.Command {
		return backend.Command{Argv: argv, Env: env}
	}})
}

// writeScript puts RunTests into a workspace.
func (m *Maker) writeScript(ctx context.Context, w shellSession) error {
	d, err := cache.PutBytes(ctx, m.Environment.Store, []byte("#!/bin/sh\n"+w.script))
	if err != nil {
		return err
	}
	return m.place(ctx, w, []cache.Entry{{Path: RunTests, Digest: d, Executable: true}})
}

// place puts stored files into a workspace.
func (m *Maker) place(ctx context.Context, s backend.Session, files []cache.Entry) error {
	tree, err := cache.BuildTree(files)
	if err != nil {
		return err
	}
	if err := tree.Store(ctx, m.Environment.Store); err != nil {
		return err
	}
	return s.Place(ctx, backend.Input{Path: ".", Tree: tree.Root})
}

// caseScript returns a script that runs a solution on its case. Arguments are passed to the solution.
func caseScript(c judge.ByHand) string {
	solution, tool := shellquote.Join(c.Solution...), shellquote.Join(c.Tool...)
	if c.Talks {
		return fmt.Sprintf(`cd "$(dirname "$0")" && rm -f answers && mkfifo answers
{ %s "$@" <answers; echo "[solution: exit status $?]" >&2; } | %s >answers
echo "[interactor: exit status $?]"
`, solution, tool)
	}
	return fmt.Sprintf(`cd "$(dirname "$0")"
%s "$@" <%s >%s
echo "[solution: exit status $?]"
%s
echo "[checker: exit status $?]"
`, solution, judge.FileIn, judge.FileOut, tool)
}

// start runs the shell: the caller's own or, on machines where it may be missing, bash or sh.
func (m *Maker) start(ctx context.Context, r Request, w shellSession) error {
	argv := []string{"/bin/sh", "-c", "command -v bash >/dev/null && exec bash -i; exec sh -i"}
	own, _ := m.Environment.LookupEnv("SHELL")
	switch usable := filepath.IsAbs(own) && !w.on.OwnFiles; {
	case r.Command != "":
		argv = []string{"/bin/sh", "-c", r.Command}
	case !w.on.Attach:
		return exit.With(exit.Usage, errors.New("the backend cannot be attached to a terminal; --command runs a command there"))
	case usable && filepath.Base(own) == "zsh":
		argv = []string{own, "-f", "-i"} // without startup files in the home directory, it asks what to write into them
	case usable:
		argv = []string{own, "-i"}
	}
	c := w.command(argv)
	c.Attach, c.Output = r.Command == "", r.Out
	e, err := w.Exec(ctx, c)
	if err == nil && e.Code != 0 && r.Command != "" {
		return exit.With(exit.Failed, fmt.Errorf("the command ended with exit code %d", e.Code))
	}
	return err
}
