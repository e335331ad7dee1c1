package pytest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/compat/scbench/workspace"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Run is the task that runs pytest on a checkpoint of a submission. Its inputs are the trees "tests",
// "submission" and "asset <name>" for each asset. Its outputs are OutputExit and OutputTiming, and
// OutputStages, OutputReport, OutputCTRF, OutputSetup and OutputLog if they exist. Nodes can share a Run, since
// its methods do not change it.
type Run struct {
	Checkpoint string
	// Pins returns all locked requirements, name==version with their hashes, or nil if they are not locked
	// yet.
	Pins           func(context.Context) ([]string, error)
	Directory      string // of the tests in the workspace
	Markers        []Marker
	Entry          string // command that starts the submission
	Args           []string
	Plugins        []string
	Timeout        time.Duration // per test; 0 means no limit
	SessionTimeout time.Duration // of the whole pytest run; 0 means no limit
	Before         string        // commands to run in the shell before pytest
	Env            session.Environment
	Setup          []string      // shell commands run in the workspace first
	SetupTimeout   time.Duration // of all of Setup together; 0 means no limit
	Assets         []Asset
	RelativeAssets bool  // variables name assets relative to the workspace
	Ports          []int // that the tests, or what they start, listen on
	Repeat         int
	// VerifyInputs are called after the tests. They return an error if files that the tests read in place no
	// longer have the content in the key.
	VerifyInputs []func() error
	Keep         session.Keep // in no key
	// Shared is a directory for environments with pytest: in the Backend's snapshots, or on this machine if
	// sessions of the Backend cannot change it; "" means none.
	Shared string

	Backend     backend.Backend
	Identity    func(context.Context) (backend.Identity, error) // of Backend, cached by the caller
	Environment *Environments
	Machine     *session.Machine
	Search      *separate.Search  // for tests that import the submission; nil means no search
	Separate    *separate.Modules // modules of the submission to run in another process; nil runs them in the importing process
	Direct      bool              // the tests are known to import modules of the submission
	Plain       bool              // the tests need not declare the options of the command

	pins []string // set in the copy that locked returns
}

// Marker is a pytest marker to register.
type Marker struct{ Name, Description string }

// Asset is an asset that the tests can read.
type Asset struct {
	Name   string // the dependency is named "asset <Name>"
	Target string // below <tests>/assets
}

// Var is an environment variable of the tests.
type Var = session.Variable

// The outputs of Run.
const (
	OutputExit   = "exit"
	OutputTiming = "timing"
	OutputStages = "stages" // the plugin's report, from which verdicts follow
	OutputReport = "report" // for users and tools, as OutputCTRF
	OutputCTRF   = "ctrf"
	OutputSetup  = "setup"
	OutputLog    = graph.LogOutput
)

// exitFacts is the content of OutputExit.
type exitFacts struct {
	session.Exit
	// Unusable is why the plugin's report is not stored, although pytest or another process wrote one.
	Unusable string `json:"unusable,omitempty"`
	// Outside is the entry's module, if pytest ended before any test and the tests cannot import it by its name.
	Outside string `json:"outside,omitempty"`
}

// reportFacts are the keys of all reports whose values decide verdicts or name tests. They are never
// masked, since a secret could be "passed".
var reportFacts = []string{"nodeid", "stage", "outcome", "keywords", "name", "status", "filePath", "file_path", "tags"}

// Describe implements graph.Task.
func (r *Run) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 7) // 7: a report of the plugin
	if len(r.Env.Secrets()) > 0 {
		m.String("secrets are masked in", "texts, not in counts") // not masked where they decide verdicts
	}
	m.String("checkpoint", r.Checkpoint)
	m.String("entry", r.Entry)
	m.String("tests directory", r.Directory)
	m.Strings("args", r.Args)
	m.Strings("plugins", r.Plugins)
	m.String("timeout", r.Timeout.String())
	m.String("session_timeout", r.SessionTimeout.String())
	if r.Before != "" {
		m.String("before", r.Before)
	}
	m.Strings("setup", r.Setup)
	if len(r.Setup) > 0 {
		m.String("setup_timeout", r.SetupTimeout.String())
	}
	switch {
	case r.Separate != nil:
		r.Separate.Describe(m)
		m.String("import plugin", cache.SumBytes(importPlugin).String())
	case r.Direct: // results contain it
		m.String("import", "direct")
	}
	if r.importable() {
		m.String("python path", "the workspace")
	}
	if r.Plain {
		m.String("plugin of options", cache.SumBytes(optionsPlugin).String())
	}
	m.Int("repeat", int64(r.Repeat))
	for _, marker := range r.Markers {
		m.String("marker "+marker.Name, marker.Description)
	}
	for _, a := range r.Assets {
		m.String("target of asset "+a.Name, a.Target)
	}
	if r.RelativeAssets && len(r.Assets) > 0 { // only if it is not the default, for compatibility with earlier keys
		m.String("paths of assets", "relative")
	}
	if len(r.Ports) > 0 {
		ports := make([]string, len(r.Ports))
		for i, port := range r.Ports {
			ports[i] = strconv.Itoa(port)
		}
		m.Strings("ports", ports)
		m.String("network", string(r.Backend.Network()))
	}
	r.Env.Describe(m)
	return session.WithClass(r.describeStack(ctx, m))
}

// describeStack adds the backend and the packages to a manifest.
func (r *Run) describeStack(ctx context.Context, m *graph.Manifest) error {
	if err := session.DescribeBackend(ctx, m, r.Identity); err != nil {
		return err
	}
	pins, err := r.Pins(ctx)
	if err != nil {
		return err
	}
	if pins == nil {
		m.Null("requirements (not locked yet)")
	}
	for _, line := range pins {
		pin, hashes := requirements.Cut(line)
		name, version, _ := strings.Cut(pin, "==")
		m.String("requirement "+name, version)
		if len(hashes) > 0 { // a lock file of an earlier version lacks them
			m.Strings("requirement "+name+" hashes", hashes)
		}
	}
	return nil
}

// Run implements graph.Task.
func (r *Run) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	locked, err := r.locked(ctx)
	if err != nil {
		return graph.Outcome{}, session.WithClass(err)
	}
	outcome, err := locked.run(ctx, w)
	return outcome, session.WithClass(err)
}

// locked returns a copy of the task with its locked requirements.
func (r *Run) locked(ctx context.Context) (*Run, error) {
	pins, err := r.Pins(ctx)
	locked := *r
	locked.pins = pins
	return &locked, err
}

func (r *Run) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	plan, in, err := r.plan(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	plan.Spec.ReadOnly = append([]string{r.Directory, iniPath, pluginDir}, r.importReadOnly()...)
	return session.Run(ctx, w, plan, func(s *session.Session) (graph.Outcome, error) {
		key := newKey()
		if err := r.ready(ctx, w, s, r.sealInputs(key)...); err != nil {
			return graph.Outcome{}, err
		}
		return r.test(ctx, w, s, in, key)
	})
}

// plan returns the description of the workspace, and the location of pytest in it.
func (r *Run) plan(ctx context.Context, w *graph.Work) (p session.Plan, in pytestLocation, err error) {
	in, err = r.Environment.prepare(ctx, r, r.Env.Preparing())
	submission, _ := w.Input("submission", "tree")
	return session.Plan{
		Backend: r.Backend, Env: r.Env, Machine: r.Machine, SetupTimeout: r.SetupTimeout, VerifyInputs: r.VerifyInputs, Keep: r.Keep, Submitted: true,
		Spec: backend.Spec{Name: w.Addr, Snapshot: in.snapshot, Inputs: []backend.Input{{Path: ".", Tree: submission}}},
	}, in, err
}

// ready runs the set-up commands in a workspace with the submission, and then places the problem's files
// and more, so that code of the submission that runs before the tests cannot change them. A failed set-up
// command is attributed to the submission and noted in the log.
func (r *Run) ready(ctx context.Context, w *graph.Work, s *session.Session, more ...backend.Input) error {
	for _, line := range r.Setup {
		if _, err := s.SetUp(ctx, session.Step{Line: line, Env: r.environ(s.Dir(), r.Env.Preparing())}); err != nil {
			return err
		}
	}
	submission, _ := w.Input("submission", "tree")
	inputs, err := r.problemInputs(ctx, w, submission)
	if err != nil {
		return err
	}
	if err := s.Place(ctx, append(inputs, more...)...); err != nil {
		return fmt.Errorf("placing the tests: %w", err)
	}
	return nil
}

// test runs pytest in a prepared workspace, which contains the key, and stores the outputs.
func (r *Run) test(ctx context.Context, w *graph.Work, s *session.Session, in pytestLocation, key proof.Key) (graph.Outcome, error) {
	env, err := r.environment(ctx, s)
	if err != nil {
		return graph.Outcome{}, err
	}
	argv, env := r.sealedCommand(in, s.Dir(), env)
	ran, err := s.Execute(ctx, session.Program{
		Name: "pytest", TrustSuccess: true,
		Command: backend.Command{Argv: argv, Env: env, Timeout: r.SessionTimeout, Ports: r.Ports},
	})
	if err != nil {
		return graph.Outcome{}, err
	}
	if err := endedBeforeTests(ctx, s, key, in, ran.Exit); err != nil {
		return graph.Outcome{}, err
	}
	printed, err := r.afterImports(ctx, s, key)
	if err != nil {
		return graph.Outcome{}, err
	}
	facts := exitFacts{Exit: ran.Stored(r.SessionTimeout)}
	early := ran.Exit.Code == exitInterrupted || ran.Exit.Code == exitUsage
	if file := r.entryFile(); early && !r.importable() && path.Ext(file) == ".py" {
		facts.Outside = strings.TrimSuffix(path.Base(file), ".py")
	}
	outcome, err := r.collect(ctx, w, s, key, &ran, facts, printed)
	if err == nil && r.neverJudged(ran.Exit, outcome) {
		err = r.Environment.verify(ctx, r, w.Addr, in)
	}
	return outcome, err
}

// endedBeforeTests returns an error if pytest ended before it ran tests, for another reason than the tests. Later,
// the submission could have ended it, and a submission that is correct by chance must not have another
// chance.
func endedBeforeTests(ctx context.Context, s *session.Session, key proof.Key, in pytestLocation, exit backend.Exit) error {
	notFound := exit.Code == session.ShellNotFound // of a shell that starts pytest, if Before is set or in a container
	if !notFound && !session.Doubtful(exit) {
		return nil
	}
	switch begun, err := keyTaken(ctx, s, key); {
	case err != nil || begun:
		return err
	case notFound && in.venv != "":
		return fmt.Errorf("running pytest: it is not in its environment %s, which was removed during the run", in.venv)
	case notFound:
		return fmt.Errorf("running pytest: %w", errNoUVX)
	}
	return s.Again(session.Again("pytest", exit))
}

// neverJudged reports whether pytest judged no test for another reason than the tests.
func (r *Run) neverJudged(exit backend.Exit, o graph.Outcome) bool {
	if exit.TimedOut || exit.Signal != "" || exit.Code >= signalBase {
		return false
	}
	reported := slices.ContainsFunc(o.Outputs, func(o cache.Output) bool { return o.Name == OutputStages })
	return !reported || exit.Code != exitOK && exit.Code != exitTestsFailed && exit.Code != exitNoTests
}

// problemInputs lists the problem's inputs that are placed over a submission, in ascending precedence.
func (r *Run) problemInputs(ctx context.Context, w *graph.Work, submission cache.Digest) (inputs []backend.Input, err error) {
	if r.Separate != nil {
		if inputs, err = r.Separate.Inputs(ctx, w.Store, submission); err != nil {
			return nil, err
		}
	}
	tests, _ := w.Input("tests", "tree")
	empty, err := cache.PutBytes(ctx, w.Store, nil) // the empty Directory
	if err != nil {
		return nil, fmt.Errorf("storing an empty directory: %w", err)
	}
	inputs = append(inputs, backend.Input{Path: r.Directory, Tree: tests, Replace: true})
	for _, a := range r.Assets {
		tree, _ := w.Input("asset "+a.Name, "tree")
		inputs = append(inputs, backend.Input{Path: path.Join(r.Directory, "assets"), Tree: tree})
	}
	inputs = append(inputs,
		backend.Input{Path: reportsDir, Tree: empty, Replace: true},
		backend.Input{Path: iniPath, Content: r.ini(), Replace: true},
	)
	if r.Separate != nil {
		inputs = append(inputs, pluginInput(importPluginName, importPlugin))
	}
	if r.Plain {
		inputs = append(inputs, pluginInput(optionsPluginName, optionsPlugin))
	}
	return inputs, nil
}

// environ returns the complete environment of commands in a workspace at dir.
func (r *Run) environ(dir string, env []string) []string {
	if r.RelativeAssets {
		dir = ""
	}
	assets := path.Join(dir, r.Directory, "assets")
	if len(r.Assets) > 0 {
		env = append(env, workspace.Assets(assets))
	}
	for _, a := range r.Assets {
		env = append(env, workspace.Asset(a.Name, path.Join(assets, a.Target)))
	}
	return append(env, workspace.Checkpoint(r.Checkpoint))
}
