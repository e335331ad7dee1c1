package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// RunTests is the script in the workspace of a shell that does what the node does.
const RunTests = "run-tests"

// ShellRequest says what to do in a workspace.
type ShellRequest struct {
	Command string    // of /bin/sh; "" is an interactive shell on the caller's terminal
	Out     io.Writer // receives what Command prints
	Notes   io.Writer // receives what set-up commands print
	// Ready is called when the workspace is made; nil ignores that.
	Ready func(Workspace)
}

// Workspace is what a shell is opened in.
type Workspace struct {
	Dir     string   // where the shell sees it
	Tests   []string // the command that RunTests starts; nil for a case of a judge problem
	Outside bool     // what runs is not in the sandbox that judges it
}

// inside is what a shell is started in: a session, what its script does, and how
// programs run there.
type inside struct {
	backend.Session
	on      backend.Capabilities
	script  string
	shown   Workspace
	command func(argv []string) backend.Command
}

// Shell brings the inputs of a node up to date, makes its workspace and runs a shell in
// it. Nothing that happens there is stored. A case of a judge problem gets a workspace
// of this machine: its sandbox has no terminal.
func Shell(ctx context.Context, o Options, arg string, r ShellRequest) (err error) {
	p, err := Open(ctx, o, Writing)
	if err != nil {
		return err
	}
	defer func() { err = p.closeAfter(err) }()
	id, err := p.workspaceNode(ctx, arg)
	if err != nil {
		return err
	}
	node := p.Plan.Graph.Node(id)
	var needs []graph.ID
	for _, d := range node.Deps {
		needs = append(needs, d.On)
	}
	rep, err := p.bringUpToDate(ctx, needs)
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	for _, need := range rep.Nodes {
		if st := rep.Status(need); st.Message != "" && (len(st.Outputs) == 0 || graph.Refused(st.Outputs)) {
			return exit.With(exit.NotJudged, fmt.Errorf("%s: %s", p.Plan.Graph.Node(need).Addr, st.Message))
		}
	}
	err = p.inWorkspace(ctx, rep, id, r.Notes, func(w inside) error {
		if err := p.leaveScript(ctx, w); err != nil {
			return err
		}
		if r.Ready != nil {
			r.Ready(w.shown)
		}
		return p.start(ctx, r, w)
	})
	var coded *exit.Error
	if err != nil && !errors.As(err, &coded) {
		return exit.With(exit.NotJudged, err)
	}
	return err
}

// hasWorkspace reports whether a shell can be opened where a node of a kind does its work.
func hasWorkspace(kind string) bool {
	return slices.Contains([]string{plan.KindPytest, plan.KindCommand, plan.KindCheck, plan.KindInteract}, kind)
}

// workspaceNode finds the node whose workspace an argument means. The name of a cell
// means the one that runs it. What a case's program does is checked beside it.
func (p *Project) workspaceNode(ctx context.Context, arg string) (graph.ID, error) {
	if run, ok := strings.CutPrefix(arg, plan.KindRun+":"); ok {
		arg = plan.KindCheck + ":" + run
	}
	if !selection.NamesCells(arg) {
		id, err := p.Node(ctx, arg)
		if err == nil && !hasWorkspace(p.Plan.Graph.Node(id).Kind) {
			err = p.noWorkspace(id)
		}
		return id, err
	}
	ids, err := p.Targets(ctx, Selection{Targets: []string{arg}})
	if err != nil {
		return 0, err
	}
	without := func(id graph.ID) bool { return !hasWorkspace(p.Plan.Graph.Node(id).Kind) }
	found := slices.DeleteFunc(slices.Clone(ids), without)
	if parts, ok := selection.PartsOfCell(arg); ok && len(found) == 0 {
		if within, err := p.Targets(ctx, Selection{Targets: []string{parts}}); err == nil {
			found = slices.DeleteFunc(within, without)
		}
	}
	if len(found) == 0 {
		return 0, p.noWorkspace(ids[0])
	}
	return p.only(arg, found)
}

func (p *Project) noWorkspace(id graph.ID) error {
	return exit.With(exit.Usage, fmt.Errorf("%s has no workspace; name a cell, or a node that runs something of a solution", p.Plan.Graph.Node(id).Addr))
}

// inWorkspace makes the workspace of a node whose inputs are up to date, and closes it
// after use.
func (p *Project) inWorkspace(ctx context.Context, rep *graph.Report, id graph.ID, notes io.Writer, use func(inside) error) error {
	node, work := p.Plan.Graph.Node(id), p.Plan.Graph.Inputs(rep, id, p.store)
	enter := func(on backend.Backend) func(backend.Session, []string, func([]string) backend.Command) error {
		return func(s backend.Session, tests []string, command func([]string) backend.Command) error {
			script := fmt.Sprintf("cd %s && exec %s \"$@\"\n", shellquote.Join(path.Join(s.Dir(), command(nil).Dir)), shellquote.Join(command(tests).Argv...))
			return use(inside{s, on.Capabilities(), script, Workspace{Dir: s.Dir(), Tests: tests}, command})
		}
	}
	switch task := node.Task.(type) {
	case *pytest.Run:
		return task.Enter(ctx, work, notes, enter(task.Backend))
	case *command.Run:
		return task.Enter(ctx, work, notes, enter(task.Backend))
	case *judge.Interact:
		byHand, err := task.ByHand(work)
		if err != nil {
			return err
		}
		return p.inCase(ctx, node.Addr, byHand, use)
	case *judge.Check:
		ran := node.Deps[slices.IndexFunc(node.Deps, func(d graph.Dep) bool { return d.As == judge.FromRun })].On
		byHand, err := task.ByHand(p.Plan.Graph.Node(ran).Task.(*judge.Run), p.Plan.Graph.Inputs(rep, ran, p.store), work)
		if err != nil {
			return err
		}
		return p.inCase(ctx, node.Addr, byHand, use)
	}
	return p.noWorkspace(id)
}

// inCase makes a workspace with the files of a judge problem's case, on this machine.
func (p *Project) inCase(ctx context.Context, addr string, c judge.ByHand, use func(inside) error) error {
	block := &lang.Backend{Kind: "local", Name: "shell", Local: &lang.LocalBackend{PrivateNetwork: true}}
	env := append([]string{"LANG=C.UTF-8"}, p.tools(block)...)
	local, err := p.executor(block, env)
	if err != nil {
		return err
	}
	s, err := local.Backend.Open(ctx, backend.Spec{Name: addr})
	if err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	defer s.Close(context.WithoutCancel(ctx))
	if err := p.place(ctx, s, c.Files); err != nil {
		return err
	}
	return use(inside{s, local.Backend.Capabilities(), caseScript(c), Workspace{Dir: s.Dir(), Outside: true}, func(argv []string) backend.Command {
		return backend.Command{Argv: argv, Env: env}
	}})
}

// leaveScript puts RunTests into a workspace.
func (p *Project) leaveScript(ctx context.Context, w inside) error {
	d, err := cache.PutBytes(ctx, p.store, []byte("#!/bin/sh\n"+w.script))
	if err != nil {
		return err
	}
	return p.place(ctx, w, []cache.Entry{{Path: RunTests, Digest: d, Executable: true}})
}

// place puts files whose contents are stored into a workspace.
func (p *Project) place(ctx context.Context, s backend.Session, files []cache.Entry) error {
	tree, err := cache.BuildTree(files)
	if err != nil {
		return err
	}
	if err := tree.Store(ctx, p.store); err != nil {
		return err
	}
	return s.Place(ctx, backend.Input{Path: ".", Tree: tree.Root})
}

// caseScript runs a solution on its case. Arguments are the solution's.
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

// start runs the shell: the caller's own, or where that may not exist bash if there is
// one.
func (p *Project) start(ctx context.Context, r ShellRequest, w inside) error {
	argv := []string{"/bin/sh", "-c", "command -v bash >/dev/null && exec bash -i; exec sh -i"}
	own, _ := p.options.Getenv("SHELL")
	switch usable := filepath.IsAbs(own) && !w.on.OwnFiles; {
	case r.Command != "":
		argv = []string{"/bin/sh", "-c", r.Command}
	case !w.on.Attach:
		return exit.With(exit.Usage, errors.New("the backend cannot be attached to a terminal; --command runs a command there"))
	case usable && filepath.Base(own) == "zsh":
		argv = []string{own, "-f", "-i"} // in a home directory without its files it asks what to write into them
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
