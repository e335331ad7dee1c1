package plan

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/tasks/verifier"
)

// verifierCell adds the nodes of a cell of a problem with a verifier.
func (c *compiler) verifierCell(s *lang.Suite, cell *Cell) error {
	return c.checkpoints(cell, KindScore, func(answer lang.SolutionCheckpoint) (CellCheckpoint, error) {
		return c.verifierCheckpoint(s, cell, answer)
	})
}

func (c *compiler) verifierCheckpoint(s *lang.Suite, cell *Cell, answer lang.SolutionCheckpoint) (CellCheckpoint, error) {
	cp := answer.Checkpoint
	cc := CellCheckpoint{Checkpoint: cp}
	node := func(kind string, task graph.Task, deps []graph.Dep) graph.Node {
		return graph.Node{Addr: address(kind, cell.Problem.Name, cp.Name, cell.Name()), Kind: kind, Labels: labels(cell, cp), Task: task, Deps: deps, Pool: inProcessPool}
	}
	policy := RuleOf(cp.Pass)
	var graded graph.Node
	if why := cell.Solution.Failed; why != "" {
		graded = node(KindScore, &tasks.NoSubmission{Why: why, Policy: policy, Checkpoint: cp.Name}, nil)
	} else {
		d, err := c.verifierDriver(cell.Problem, cell.Backend, cp.Verifier)
		if err != nil {
			return cc, err
		}
		tests := c.verifierTests(cell.Problem, cp)
		task := c.verifierRun(cell, cp, d)
		for _, t := range tests {
			task.Tests = append(task.Tests, t.As)
		}
		submitted := graph.Dep{As: verifier.FromSubmission, Outputs: treeOutput}
		if submitted.On, err = c.answerNodes(s, cell, answer); err != nil {
			return cc, err
		}
		task.MayLackAll = cell.Solution.Solver != nil
		seen := c.readablePaths(d, cell.Backend, cp.Verifier.Env, nil)
		task.VerifyInputs = seen.unchanged
		run := node(KindVerify, task, slices.Concat(tests, []graph.Dep{submitted}, d.image, seen.deps))
		run.Pool, run.Retry, run.Probes = cell.Backend.Pool, retryOf(s, cell.Backend), []string{d.addr}
		id := c.plan.Graph.Add(run)
		cc.Own = append(cc.Own, id)
		graded = node(KindScore, &verifier.Score{Checkpoint: cp.Name, Reward: cp.Verifier.Reward, Policy: policy},
			[]graph.Dep{{On: id, As: verifier.From, Outputs: verifier.Outputs()}})
	}
	graded.Kept = true
	cc.Aggregate = c.plan.Graph.Add(graded)
	cc.Measured = cc.Aggregate
	cc.Own = append(cc.Own, cc.Aggregate)
	return cc, nil
}

// verifierTests adds the nodes of the directories with a checkpoint's tests. Directories of all checkpoints
// belong to the problem.
func (c *compiler) verifierTests(p *lang.Problem, cp *lang.Checkpoint) []graph.Dep {
	shared := func(dir string) bool {
		return !slices.ContainsFunc(p.Checkpoints, func(other *lang.Checkpoint) bool { return !slices.Contains(other.Verifier.Tests, dir) })
	}
	var deps []graph.Dep
	for i, dir := range cp.Verifier.Tests {
		owner, list := cp.Name, cp.Verifier.Tests
		if shared(dir) { // always counted in the same order
			owner, list = "", p.Checkpoints[0].Verifier.Tests
		}
		place := 0
		for _, other := range list[:slices.Index(list, dir)] {
			if shared(other) == shared(dir) {
				place++
			}
		}
		parts := []string{owner}
		if place > 0 {
			parts = append(parts, "/"+strconv.Itoa(place+1)) // no checkpoint has this name
		}
		addr := address(KindTests, p.Name, parts...)
		id := c.addOnce(graph.Node{
			Addr: addr, Kind: KindTests, Labels: problemLabels(p, owner),
			Task: tasks.NewMaterialize(tasks.Asset{Source: dir, Target: ".", Ignore: notTests(cp.Verifier.LeaveOut, dir)}, c.sourcesOf(addr)), Pool: inProcessPool,
		})
		deps = append(deps, graph.Dep{On: id, As: "tests " + strconv.Itoa(i+1), Outputs: treeOutput})
	}
	return deps
}

// testLeavings are patterns of files that running tests in place creates.
var testLeavings = []string{"**/__pycache__/**", "**/*.pyc", ".harborignore", "**/.harborignore"}

// notTests returns patterns of the files in a directory of tests that are not tests.
func notTests(leaveOut []string, dir string) []string {
	all := slices.Clone(testLeavings)
	for _, left := range leaveOut {
		if rel, ok := subpath.Rel(dir, left); ok {
			name := lang.EscapeGlob(rel)
			all = append(all, name, name+"/**")
		}
	}
	return all
}

func (c *compiler) verifierRun(cell *Cell, cp *lang.Checkpoint, d *driver) *verifier.Run {
	v := cp.Verifier
	d.handle.Use.Bare = true
	run := &verifier.Run{
		Workdir: v.Workdir, Timeout: v.Timeout, Offline: !v.Online, GPU: v.GPU, Reward: v.Reward, Repeat: cell.Repeat,
		Env: session.Environment(d.environ(v.Env)), Backend: d.Backend, Keep: keepOf(cell.Backend),
	}
	if d.Backend.Capabilities().OwnFiles {
		run.Offline = false // its containers have the required network
	} else {
		run.NoImage = true
	}
	for _, a := range v.Artifacts {
		run.Artifacts = append(run.Artifacts, a.Path)
	}
	var inherited session.Environment
	inherited, run.Inherited, run.Lacks = c.inheritedVariables(v, "the verifier")
	run.Env = append(run.Env, inherited...)
	for _, r := range v.BrokenIf {
		run.BrokenIf = append(run.BrokenIf, verifier.Rule{File: r.File, Pointer: r.Pointer, Values: r.Values, Pattern: r.Pattern})
	}
	if len(v.Hosts) > 0 && cell.Backend.Container == nil {
		run.Lacks = errors.New("the verifier's network is an allowlist, which requires a docker backend")
	}
	if len(v.Services) > 0 && cell.Backend.Container == nil {
		run.Lacks = fmt.Errorf("the verifier has the service %s, which requires a docker backend", v.Services[0].Name)
	}
	if v.User != "" && cell.Backend.Container == nil {
		run.Lacks = fmt.Errorf("the verifier runs as the user %s, which requires a docker backend, or user = \"\" in its verifier block", v.User)
	}
	run.Identity = d.identity(d.handle.bare, "bash")
	return run
}

// inheritedVariables returns the variables of v that have the caller's values or defaults, and among them those with secret
// values. The error names a variable that of needs and that is not set.
func (c *compiler) inheritedVariables(v *lang.Verifier, of string) (all session.Environment, secret []session.Variable, lacks error) {
	for _, one := range v.Inherit {
		value, ok := c.env.LookupEnv(one.From)
		switch {
		case ok:
			variable := session.Variable{Name: one.Name, Value: value, Secret: one.From}
			all, secret = append(all, variable), append(secret, variable)
		case one.Default != nil:
			all = append(all, session.Variable{Name: one.Name, Value: *one.Default})
		default:
			lacks = &graph.InputError{Err: fmt.Errorf("the environment variable %s, which %s requires as %s, is not set", one.From, of, one.Name)}
		}
	}
	return all, secret, lacks
}

// excludedPatterns returns patterns, relative to a solution's source, for files that its artifacts exclude.
func excludedPatterns(p *lang.Problem) []string {
	var all []string
	for _, cp := range p.Checkpoints {
		for _, a := range cp.Verifier.Artifacts {
			below := ""
			if solution := p.Solution(); solution == "/" {
				below = strings.TrimPrefix(a.Path, "/") + "/"
			}
			for _, pattern := range a.Exclude {
				all = append(all, path.Join(below, "**", pattern), path.Join(below, "**", pattern, "**"))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// verifierDriver returns the driver of a verifier: that of its backend or, on a backend with containers, a
// variant with the verifier's image and settings.
func (c *compiler) verifierDriver(p *lang.Problem, b *lang.Backend, v *lang.Verifier) (*driver, error) {
	base, err := c.driver(b)
	if err != nil {
		return nil, err
	}
	if b.Container == nil {
		return base, nil
	}
	o := override{on: b, image: v.Image, gpu: v.GPU && b.Container.GPUs == "", dockerfile: v.Dockerfile, context: v.Context,
		verified: true, as: lang.ContainerAs{User: v.User, Online: v.Online, Capabilities: v.Capabilities, CPUs: v.CPUs, Memory: v.Memory, Services: c.servicesOf(v), Hosts: strings.Join(v.Hosts, " ")}}
	if d, ok := c.overrides[o]; ok {
		return d, nil
	}
	d, err := c.verifying(o, base)
	if err != nil {
		return nil, fmt.Errorf("%s on backend %s: %w", p.Ref, b.Addr(), err)
	}
	c.overrides[o] = d
	return d, nil
}

// servicesOf returns the services of a verifier. Equal services have the same pointer, so that their
// drivers are equal, too.
func (c *compiler) servicesOf(v *lang.Verifier) *[]lang.Service {
	if len(v.Services) == 0 {
		return nil
	}
	for _, known := range c.services {
		if reflect.DeepEqual(*known, v.Services) {
			return known
		}
	}
	c.services = append(c.services, &v.Services)
	return &v.Services
}

// verifying creates the driver for a verifier.
func (c *compiler) verifying(o override, base *driver) (*driver, error) {
	container, like := *o.on.Container, *o.on
	like.Container, container.As = &container, &o.as
	d := &driver{addr: fmt.Sprintf("%s verifier %d", base.addr, len(c.overrides)+1), base: base.base, mounts: base.mounts, mounted: base.mounted}
	switch {
	case o.image != "":
		container.Image, container.Build = o.image, nil
	case o.dockerfile != "":
		container.Image, container.Build = "", &lang.ImageBuild{Dockerfile: o.dockerfile, Context: o.context}
		d.addr = base.addr + " " + escape(c.plan.Config.Relative(o.dockerfile), "@ ") // names the nodes of its image
	}
	if o.gpu {
		container.GPUs = "all"
	}
	if err := c.start(d, &like); err != nil {
		return nil, err
	}
	if container.Build == nil {
		return d, nil
	}
	if container.Build == o.on.Container.Build { // the backend's own image
		d.addr = base.addr
	}
	var err error
	if d.image, err = c.image(d, &like); err != nil {
		return nil, err
	}
	d.handle.Use.Dockerfile, d.handle.image = container.Build.Dockerfile, d.image[0].On
	return d, nil
}
