package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// machineProblems are four problems: small and default need the same machines if these have 2 processors, unless a
// problem sets another number.
const machineProblems = `
problem "small" {
  resources { cpus = "2" }
  command {
    root     = "tests"
    solution = "answer"
    argv     = ["/bin/sh", "grade.sh"]
    score { marker = "score" }
  }
}
problem "default" {
  command {
    root     = "tests"
    solution = "answer"
    argv     = ["/bin/sh", "grade.sh"]
    score { marker = "score" }
  }
}
problem "large" {
  resources {
    accelerators = "L4:1"
    nodes        = 2
  }
  command {
    root     = "tests"
    solution = "answer"
    argv     = ["/bin/sh", "grade.sh"]
    score { marker = "score" }
  }
}
problem "tests" {
  entry = "python kv.py"
  resources { memory = "16+" }
  pytest { root = "tests" }
  checkpoint "a" {}
}
solution "of_small" {
  problem = problem.small
  source  = "data"
}
solution "of_default" {
  problem = problem.default
  source  = "data"
}
solution "of_large" {
  problem = problem.large
  source  = "data"
}
solution "good" {
  problem = problem.tests
  source  = "good/${checkpoint.name}"
}
backend "local" "one" {}
`

// onMachines compiles a configuration whose only backend provides machines, and lists the
// blocks that backends were made of.
func onMachines(t *testing.T, config string, machines *lang.Machines) (*project, []*lang.Backend) {
	t.Helper()
	p := newProject(t, config)
	cfg := p.plan.Config
	cfg.Backends[0].Machines = machines
	var blocks []*lang.Backend
	env := p.environment()
	made := env.Executor
	env.Executor = func(b *lang.Backend, probes []string) (Executor, error) {
		blocks = append(blocks, b)
		return made(b, probes)
	}
	var err error
	if p.plan, err = Compile(cfg, 7, env); err != nil {
		t.Fatal(err)
	}
	return p, blocks
}

// Problems that need other machines have separate backends and pools; problems with the same needs share them.
func TestMachines(t *testing.T) {
	p, blocks := onMachines(t, machineProblems, &lang.Machines{Resources: lang.Resources{CPUs: "2"}, Slots: 3, MaxClusters: 4})
	var pools []string
	for _, b := range blocks {
		if b.Addr() != "local.one" || b.Pool != b.Machines.Pool || !strings.HasSuffix(b.Pool, ":"+b.Machines.Resources.String()) {
			t.Errorf("a backend was made of %+v with %+v", b, b.Machines)
		}
		pools = append(pools, b.Pool)
	}
	slices.Sort(pools)
	gpu, plain, memory := "machines:local.one:accelerators=L4:1,cpus=2,nodes=2", "machines:local.one:cpus=2", "machines:local.one:cpus=2,memory=16+"
	if want := []string{gpu, plain, memory}; !slices.Equal(pools, want) {
		t.Fatalf("the backends have the pools %q, want %q", pools, want)
	}
	for _, pool := range pools {
		if slots := p.plan.Pools[pool]; slots != 12 {
			t.Errorf("%s has %d slots", pool, slots)
		}
	}
	if got := len(p.plan.Pools); got != 5 || p.plan.Pools[graph.CPUPool] != 7 {
		t.Errorf("pools are %v", p.plan.Pools)
	}
	probes := map[string]string{}
	for id := range graph.ID(p.plan.Graph.Len()) {
		n := p.plan.Graph.Node(id)
		want := inProcessPool
		if n.Kind == KindCommand || n.Kind == KindPytest {
			want = map[string]string{"small": plain, "default": plain, "large": gpu, "tests": memory}[n.Label("problem")]
			probes[n.Label("problem")] = n.Probes[0]
		}
		if n.Pool != want {
			t.Errorf("%s is in the pool %q, want %q", n.Addr, n.Pool, want)
		}
		if backend := n.Label("backend"); backend != "" && backend != "local.one" {
			t.Errorf("%s is on %q", n.Addr, backend)
		}
	}
	if got, want := fmt.Sprint(probes), "map[default:local.one cpus=2 large:local.one accelerators=L4:1,cpus=2,nodes=2 small:local.one cpus=2 tests:local.one cpus=2,memory=16+]"; got != want {
		t.Errorf("the first query is to\n%s, want\n%s", got, want)
	}
	if m := p.plan.Config.Backends[0]; m.Pool != graph.CPUPool || m.Machines.Pool != "" || m.Machines.Resources != (lang.Resources{CPUs: "2"}) {
		t.Errorf("the block of the configuration has become %+v, %+v", m, m.Machines)
	}
}

// Without settings in their block, machines are one cluster, for one node at a time.
// Elsewhere, resources change nothing.
func TestMachineSlots(t *testing.T) {
	p, blocks := onMachines(t, machineProblems, &lang.Machines{})
	if slots, known := p.plan.Pools["machines:local.one:"]; len(blocks) != 4 || slots != 1 || !known {
		t.Errorf("%d backends, pools %v", len(blocks), p.plan.Pools)
	}
	p, blocks = onMachines(t, machineProblems, nil)
	if len(blocks) != 1 || blocks[0] != p.plan.Config.Backends[0] || len(p.plan.Pools) != 2 {
		t.Errorf("without machines: %d backends, pools %v", len(blocks), p.plan.Pools)
	}
}

// Sandboxes are chosen by the machines that problems need, too.
func TestMachinesOfJudge(t *testing.T) {
	p := newJudgeProject(t, strings.Replace(judgeProblem, "judge {", "resources { cpus = \"8\" }\n  judge {", 1)+judgeSolutions("double.cpp"))
	p.plan.Config.Backends[0].Machines = &lang.Machines{Slots: 5}
	made, err := Compile(p.plan.Config, 2, p.environment())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for id := range graph.ID(made.Graph.Len()) {
		n := made.Graph.Node(id)
		if n.Pool == inProcessPool {
			continue
		}
		kinds[n.Kind] = true
		if n.Pool != "machines:gojudge.box:cpus=8" || !slices.Equal(n.Probes, []string{"gojudge.box cpus=8"}) {
			t.Errorf("%s is in the pool %q and asks %q", n.Addr, n.Pool, n.Probes)
		}
	}
	if !kinds[KindRun] || !kinds[KindCheck] || !kinds[KindCompile] || !kinds[KindChecker] || made.Pools["machines:gojudge.box:cpus=8"] != 5 {
		t.Errorf("on machines: %v, pools %v", kinds, made.Pools)
	}
}

// builder is an ImageBuilder that is never called.
type builder struct{ backend.ImageBuilder }

// An image that is built is built where it is used: on the machines of each pool.
func TestMachinesOfImages(t *testing.T) {
	p := newProject(t, machineProblems)
	b := p.plan.Config.Backends[0]
	b.Machines = &lang.Machines{}
	b.Container = &lang.Container{Build: &lang.ImageBuild{Dockerfile: "/x/Dockerfile", Context: "/x"}}
	p.boxes["local.one"].Can.Images = builder{}
	made, err := Compile(p.plan.Config, 2, p.environment())
	if err != nil {
		t.Fatal(err)
	}
	var pools []string
	for _, id := range made.Images() {
		pools = append(pools, made.Graph.Node(id).Pool)
	}
	slices.Sort(pools)
	if want := []string{"machines:local.one:", "machines:local.one:accelerators=L4:1,nodes=2", "machines:local.one:cpus=2", "machines:local.one:memory=16+"}; !slices.Equal(pools, want) {
		t.Errorf("images are built in the pools %q, want %q", pools, want)
	}
}

// No pool block can take the slots of machines.
func TestMachinePoolsAreReserved(t *testing.T) {
	p := newProject(t, machineProblems)
	p.write("fevalgraph.hcl", machineProblems+"pool \"machines:local.one:cpus=2\" { slots = 1 }\n")
	if _, findings := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: p.dir}}); len(findings) != 1 || findings[0].Code != "bad-name" {
		t.Errorf("a pool block with the name of a pool of machines: %+v", findings)
	}
}

// A partition is stale when the machines of its cells, or how many there are, differ.
func TestMachinesInFingerprints(t *testing.T) {
	p := newProject(t, machineProblems)
	cfg := p.plan.Config
	fingerprints := func() (all [][]byte) {
		for _, part := range Partitions(cfg) {
			f, err := part.Fingerprint()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
		}
		return all
	}
	last := fingerprints()
	for _, m := range []*lang.Machines{{}, {Slots: 2}, {Slots: 2, MaxClusters: 3}, {Slots: 2, MaxClusters: 3, Resources: lang.Resources{Nodes: "2"}}} {
		cfg.Backends[0].Machines = m
		now := fingerprints()
		for i := range now {
			if bytes.Equal(now[i], last[i]) {
				t.Errorf("%+v: partition %d has the same fingerprint as before", m, i)
			}
		}
		last = now
	}
	for _, problem := range cfg.Problems {
		if problem.Name == "small" {
			problem.Resources.Nodes = "3"
		}
	}
	changed := 0
	for i, f := range fingerprints() {
		if !bytes.Equal(f, last[i]) {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("resources of one problem changed %d partitions", changed)
	}
}
