package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// TaskAddress returns the address of a task's node.
func TaskAddress(t *lang.Task) string { return address(KindTask, t.Name) }

// task adds the node of a task and its dependencies. Errors are reported as compilation errors.
func (c *compiler) task(t *lang.Task) graph.ID {
	addr := TaskAddress(t)
	if id, ok := c.plan.Graph.Lookup(addr); ok {
		return id
	}
	on := c.backendFor(&lang.Problem{Resources: resourcesOf(t)}, t.Backend)
	d, err := c.driver(on)
	if err == nil && len(t.Requires) > 0 {
		err = d.needsPython()
	}
	if err != nil {
		c.err = cmp.Or(c.err, fmt.Errorf("%s: %w", t.Ref, err))
		return c.plan.Graph.Add(graph.Node{Addr: addr, Kind: KindTask, Task: &tasks.Invalid{Reason: err}})
	}
	task := &command.Task{
		Directory: t.Directory, SetupTimeout: on.SetupTimeout, Argv: t.Argv, Timeout: t.Timeout, Offline: t.Offline,
		Env: d.environ(t.Env), Machine: c.machine, Backend: d.Backend, Keep: keepOf(on),
	}
	n := graph.Node{Addr: addr, Kind: KindTask, Labels: c.taskLabels(t), Task: task, Pool: on.Pool, Slots: t.Cores, Retry: taskRetry(t, on), Probes: []string{d.addr}, Kept: slices.Contains(c.standalone, t)}
	if on.Machines != nil {
		n.Slots = 1 // slots of the machine
	} else if t.Pool != "" {
		n.Pool = t.Pool
	}
	for _, in := range t.Inputs {
		id, place := c.taskInput(t, in)
		as := "input " + in.Name
		task.Inputs = append(task.Inputs, command.TaskInput{As: as, Path: place})
		n.Deps = append(n.Deps, graph.Dep{On: id, As: as, Outputs: treeOutput})
	}
	seen := c.readablePaths(d, on, t.Env, t.Requires, slices.Concat(on.Setup, t.Setup, t.Argv)...)
	n.Deps, task.VerifyInputs = slices.Concat(n.Deps, d.image, seen.deps), seen.unchanged
	for _, line := range on.Setup {
		task.Setup = append(task.Setup, session.Step{Line: line, Directory: "."})
	}
	for _, line := range t.Setup {
		task.Setup = append(task.Setup, session.Step{Line: line, Directory: t.Directory})
	}
	for _, o := range t.Outputs {
		task.Outputs = append(task.Outputs, command.TaskOutput{Name: o.Name, Kind: o.Kind, Path: o.Path})
	}
	c.taskIdentity(t, on, d, task, &n)
	return c.plan.Graph.Add(n)
}

// resourcesOf returns the machine resources that a task requests.
func resourcesOf(t *lang.Task) (r lang.Resources) {
	if t.Cores > 1 {
		r.CPUs = strconv.Itoa(t.Cores) + "+"
	}
	if t.Memory > 0 {
		const gib = 1 << 30
		r.Memory = strconv.FormatInt((t.Memory+gib-1)/gib, 10) + "+"
	}
	return r
}

// taskRetry returns the retry policy of a task, which can specify the number of attempts.
func taskRetry(t *lang.Task, on *lang.Backend) graph.Retry {
	r := retryOf(nil, on)
	if t.Retries != nil {
		r.Attempts, r.Failures = *t.Retries+1, true
	}
	return r
}

// taskIdentity sets the parts of the backend's identity that a task's key contains, and its Python packages.
func (c *compiler) taskIdentity(t *lang.Task, on *lang.Backend, d *driver, task *command.Task, n *graph.Node) {
	lines := slices.Concat(on.Setup, t.Setup, t.Argv)
	if len(t.Requires) == 0 {
		d.handle.Use.Bare = true
		task.Identity = d.identity(d.handle.bare, lines...)
		return
	}
	d.handle.Use.Python = true
	for i := range lines {
		lines[i] = withoutPython(lines[i])
	}
	task.Identity = d.identity(d.handle.identify, lines...)
	n.Probes = append(n.Probes, requirementsProbe(t.Requires, d))
	task.Python = &command.Packages{
		Pins: func(ctx context.Context) ([]string, error) {
			return c.env.Pins(ctx, d.Backend, d.handle.env, t.Requires)
		},
		Interpreter: d.Capabilities().Python.Interpreter, Environments: c.virtual,
	}
	if c.env.Environments != nil {
		task.Python.Shared = c.env.Environments(on)
	}
}

// taskLabels returns the solution that the task is about, if any, as labels.
func (c *compiler) taskLabels(t *lang.Task) []graph.Label {
	var labels []graph.Label
	if s, answer := t.Subject(); s != nil {
		labels = append(problemLabels(s.Problem, s.Checkpoints[answer].Checkpoint.Name), graph.Label{Name: "solution", Value: s.Name})
	}
	return append(labels, graph.Label{Name: "task", Value: t.Name}, graph.Label{Name: "backend", Value: t.Backend.Addr()})
}

// taskInput adds the node of an input, and returns the input's path in the workspace.
func (c *compiler) taskInput(t *lang.Task, in lang.TaskInput) (id graph.ID, place string) {
	addr := address(KindInput, t.Name, in.Name)
	labels := []graph.Label{{Name: "task", Value: t.Name}}
	switch {
	case in.Solution != nil:
		return c.submission(in.Solution, in.Solution.Checkpoints[in.Answer]), in.Target
	case in.From != nil:
		return c.place(addr, KindInput, labels, in.From, tasks.Place{Target: in.Target, Ignore: in.Ignore}), "."
	}
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindInput, Labels: labels, Task: tasks.NewMaterialize(assetOf(in.Asset), c.sourcesOf(addr)), Pool: inProcessPool,
	}), "."
}

// place adds the node that places an output of a task as p specifies.
func (c *compiler) place(addr, kind string, labels []graph.Label, from *lang.OutputRef, p tasks.Place) graph.ID {
	on := c.task(from.Task)
	p.Output, p.File, p.Any = from.Name, from.Output().Kind == lang.OutputFile, from.Output().Kind == lang.OutputAny
	return c.addOnce(graph.Node{
		Addr: addr, Kind: kind, Labels: labels, Task: &p, Pool: inProcessPool,
		Deps: []graph.Dep{{On: on, As: tasks.From, Outputs: []string{from.Name}, Shown: TaskAddress(from.Task)}},
	})
}

// figures adds the nodes with metrics about a checkpoint of a cell, in the order of their tasks.
func (c *compiler) figures(cell *Cell, cp *lang.Checkpoint) (ids []graph.ID) {
	for _, t := range c.about[subject{cell.Solution, cp}] {
		on := c.task(t)
		ids = append(ids, c.addOnce(graph.Node{
			Addr: address(KindFigures, t.Name), Kind: KindFigures, Labels: c.taskLabels(t), Pool: inProcessPool, Kept: true,
			Task: &command.Figures{Task: t.Block, Metrics: t.Metrics()},
			Deps: []graph.Dep{{On: on, As: command.FromTask, Outputs: t.Metrics(), Shown: TaskAddress(t)}},
		}))
	}
	return ids
}

// subject is a checkpoint of a solution.
type subject struct {
	solution   *lang.Solution
	checkpoint *lang.Checkpoint
}

// tasksAbout returns the tasks with metrics, by subject.
func tasksAbout(cfg *lang.Config) map[subject][]*lang.Task {
	about := map[subject][]*lang.Task{}
	for _, t := range cfg.Tasks {
		if s, answer := t.Subject(); s != nil && len(t.Metrics()) > 0 {
			key := subject{s, s.Checkpoints[answer].Checkpoint}
			about[key] = append(about[key], t)
		}
	}
	return about
}

// tasksOf adds the tasks that the cells of a solution need, or that are about them, to a set.
func tasksOf(s *lang.Solution, about map[subject][]*lang.Task, set map[*lang.Task]bool) {
	var add func(*lang.Task)
	from := func(o *lang.OutputRef) {
		if o != nil {
			add(o.Task)
		}
	}
	add = func(t *lang.Task) {
		if set[t] {
			return
		}
		set[t] = true
		for _, in := range t.Inputs {
			from(in.From)
			if in.Solution != nil {
				from(in.Solution.Checkpoints[in.Answer].From)
			}
		}
	}
	if p := s.Problem.Pytest; p != nil {
		from(p.RootFrom)
	}
	if j := s.Problem.Judge; j != nil {
		from(j.TestDataFrom)
		from(j.CheckerFrom)
		from(j.IncludeFrom)
	}
	for _, answer := range s.Checkpoints {
		if s.Omits(answer) {
			continue
		}
		from(answer.From)
		for _, a := range answer.Checkpoint.Assets {
			from(a.From)
		}
		for _, t := range about[subject{s, answer.Checkpoint}] {
			add(t)
		}
	}
}

// Standalone returns the tasks that no cell needs and that are about no cell, whose nodes are in no
// partition.
func Standalone(cfg *lang.Config) []*lang.Task {
	if len(cfg.Tasks) == 0 {
		return nil
	}
	about, used := tasksAbout(cfg), map[*lang.Task]bool{}
	EachCell(cfg, func(cell lang.Cell) { tasksOf(cell.Solution, about, used) })
	return slices.DeleteFunc(slices.Clone(cfg.Tasks), func(t *lang.Task) bool { return used[t] })
}
