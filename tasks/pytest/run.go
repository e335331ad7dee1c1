package pytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/compat/scbench/workspace"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks/ending"
	"github.com/fevalgraph/fevalgraph/tasks/environ"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
)

// Run is the task that runs pytest on one checkpoint of one submission. Its
// inputs are the trees "tests", "submission" and "asset <name>" for each
// asset. Its outputs are OutputExit and OutputTiming, always, and OutputReport,
// OutputCTRF, OutputSetup and OutputLog when there were such.
type Run struct {
	Checkpoint string
	// Pins returns the locked requirements, name==version with their hashes, every one
	// of them; nil when they are not locked yet.
	Pins           func(context.Context) ([]string, error)
	Directory      string // of the tests in the workspace
	File           string // the one test file in it to run; "" is every one
	Markers        []Marker
	Entry          string // command that starts the submission
	Args           []string
	Plugins        []string
	Timeout        time.Duration // per test; 0 is none
	SessionTimeout time.Duration // of the whole pytest run; 0 is none
	Before         string        // commands of the shell that starts pytest
	Env            environ.List
	Setup          []string      // shell commands run in the workspace first
	SetupTimeout   time.Duration // of all of Setup together; 0 is none
	Assets         []Asset
	RelativeAssets bool  // variables name assets relative to the workspace
	Ports          []int // that the tests, or what they start, listen on
	Repeat         int
	// VerifyInputs are asked after the tests whether what they read in place is still
	// what the key says. An error means that it is not.
	VerifyInputs []func() error
	Keep         Keep // leave workspaces for a person to enter; in no key
	// Shared is a directory of the Backend's snapshots, for an environment with pytest in
	// it; "" has uvx make one of uv's cache, on a backend without snapshots.
	Shared string

	Backend     backend.Backend
	Identity    func(context.Context) (backend.Identity, error) // of Backend, memoised by the caller
	Environment *Environments
	Machine     *ending.Machine
	Search      *separate.Search // of tests that import the submission; nil finds none

	pins []string // of the last Describe
}

// Marker is a pytest marker to register.
type Marker struct{ Name, Description string }

// Asset is an asset that the tests may read.
type Asset struct {
	Name   string // the dependency is called "asset <Name>"
	Target string // below <tests>/assets
}

// Var is one environment variable of the tests.
type Var = environ.Var

// The outputs of Run.
const (
	OutputExit   = "exit"
	OutputTiming = "timing"
	OutputReport = "report"
	OutputCTRF   = "ctrf"
	OutputSetup  = "setup"
	OutputLog    = graph.LogOutput
)

// exitFacts is the content of OutputExit.
type exitFacts struct {
	Code     int     `json:"code"`
	Signal   string  `json:"signal,omitempty"`
	TimedOut bool    `json:"timed_out,omitempty"`
	Limit    float64 `json:"limit,omitempty"` // the session limit, seconds
	// MemoryLimit, in bytes, is set when the backend's was reached and
	// something was killed for that.
	MemoryLimit int64 `json:"memory_limit,omitempty"`
	// Collected is how many tests pytest said that it collected, where the log has
	// masks; nil when the log is whole, or pytest did not say it.
	Collected *int `json:"collected,omitempty"`
	// Summary is what pytest said of its end, where the log has masks.
	Summary *summary `json:"summary,omitempty"`
	// TooLarge are the names of reports that were larger than maxReport, and not kept.
	TooLarge []string `json:"too_large,omitempty"`
	// Unsealed are the names of reports that pytest's own process did not write as they
	// are. No report is kept then.
	Unsealed []string `json:"unsealed,omitempty"`
}

// reportFacts are the keys of both reports whose values decide, or name what is decided
// on. They are never masked: a secret may be "passed".
var reportFacts = []string{"nodeid", "outcome", "keywords", "name", "status", "filePath", "file_path", "tags"}

// timing is the content of OutputTiming.
type timing struct {
	Seconds   float64 `json:"seconds"`             // of the pytest command
	Isolation string  `json:"isolation,omitempty"` // see backend.Capabilities
	Import    string  `json:"import,omitempty"`    // see verdict.Measurements
}

// Describe implements graph.Task.
func (r *Run) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe", 5) // 5: reports are sealed
	if len(r.Env.Secrets()) > 0 {
		m.String("secrets are masked in", "texts, not in counts") // not in what decides, as they were
	}
	m.String("checkpoint", r.Checkpoint)
	m.String("entry", r.Entry)
	m.String("tests directory", r.Directory)
	if r.File != "" {
		m.String("test file", r.File)
	}
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
	m.Int("repeat", int64(r.Repeat))
	for _, marker := range r.Markers {
		m.String("marker "+marker.Name, marker.Description)
	}
	for _, a := range r.Assets {
		m.String("target of asset "+a.Name, a.Target)
	}
	if r.RelativeAssets && len(r.Assets) > 0 { // what is not the default, so that keys stay what they were
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
	return ending.WithClass(r.describeStack(ctx, m))
}

// describeStack adds what the tests run on: the backend and the packages.
func (r *Run) describeStack(ctx context.Context, m *graph.Manifest) error {
	if err := environ.DescribeBackend(ctx, m, r.Identity); err != nil {
		return err
	}
	var err error
	if r.pins, err = r.Pins(ctx); err != nil {
		return err
	}
	if r.pins == nil {
		m.Null("requirements (not locked yet)")
	}
	for _, line := range r.pins {
		pin, hashes := requirements.Cut(line)
		name, version, _ := strings.Cut(pin, "==")
		m.String("requirement "+name, version)
		if len(hashes) > 0 { // a lock file of an earlier version has none
			m.Strings("requirement "+name+" hashes", hashes)
		}
	}
	return nil
}

// Run implements graph.Task.
func (r *Run) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	outcome, err := r.run(ctx, w)
	return outcome, ending.WithClass(err)
}

func (r *Run) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	outcome, again, err := r.try(ctx, w, false)
	if errors.Is(err, ending.ErrUnclear) {
		again = err.Error()
	}
	if again != "" {
		w.Note(again)
		outcome, _, err = r.try(ctx, w, true)
	}
	return outcome, err
}

// try does the work in a session of its own. again is the reason to do it once more, if the
// end is not the submission's doing. What is unclear is an error but the last time.
func (r *Run) try(ctx context.Context, w *graph.Work, last bool) (outcome graph.Outcome, again string, err error) {
	setup := &capped.Buffer{}
	key := newKey()
	session, python, err := r.open(ctx, w, io.MultiWriter(setup, w.Log), last, sealInputs(key), r.Directory, iniPath, pluginDir)
	if session != nil {
		// Closing ends processes; that must happen on a cancelled run, too.
		defer func() {
			w.Phase(graph.Closing)
			session.Close(context.WithoutCancel(ctx))
		}()
	}
	if err != nil {
		r.keep(ctx, w, session, nil, err)
		return graph.Outcome{}, "", err
	}
	outcome, exit, err := r.test(ctx, w, session, python, key, setup)
	r.keep(ctx, w, session, &exit, err)
	if err == nil && ending.Doubtful(exit) {
		// Once pytest runs tests, the submission can end it, and one that is right by chance must
		// not have another chance for that.
		begun, err := begun(ctx, session, key)
		if err == nil && !begun {
			again = ending.Again("pytest", exit)
		}
		return outcome, again, err
	}
	return outcome, "", err
}

// test runs pytest in a workspace that is ready, with the key in it, and stores what it leaves.
func (r *Run) test(ctx context.Context, w *graph.Work, session backend.Session, python string, key proof.Key, setup *capped.Buffer) (graph.Outcome, backend.Exit, error) {
	log := &capped.Buffer{}
	redacted := backend.Redact(io.MultiWriter(log, w.Log), r.Env.Masked())
	var output io.Writer = redacted
	unmasked := log
	if len(r.Env.Secrets()) > 0 {
		unmasked = &capped.Buffer{}
		output = io.MultiWriter(unmasked, redacted)
	}
	argv, env := r.sealedCommand(python, session.Dir(), r.environ(session.Dir(), r.Env.Variables()))
	w.Phase(graph.Executing)
	exit, err := session.Exec(ctx, backend.Command{
		Argv: argv, Env: env, Timeout: r.SessionTimeout, Ports: r.Ports, Output: output, Notes: io.MultiWriter(setup, w.Log),
	})
	redacted.Close()
	if err != nil {
		return graph.Outcome{}, exit, fmt.Errorf("running pytest: %w", err)
	}
	for _, verify := range r.VerifyInputs {
		if err := verify(); err != nil {
			return graph.Outcome{}, exit, err
		}
	}
	if exit.Code == ending.ShellNotFound {
		// A shell that starts pytest, for Before or in a container, ends so if there is none to start.
		switch begun, err := begun(ctx, session, key); {
		case err != nil:
			return graph.Outcome{}, exit, err
		case !begun:
			return graph.Outcome{}, exit, fmt.Errorf("running pytest: %w", errNoUVX)
		}
	}
	if exit.Code != exitOK || exit.TimedOut {
		if err := session.Verify(ctx); err != nil {
			return graph.Outcome{}, exit, fmt.Errorf("pytest ended with %s, which proves nothing: %w", ending.Words("exit code", exit), err)
		}
	}
	facts := exitFacts{Code: exit.Code, Signal: exit.Signal, TimedOut: exit.TimedOut, Limit: r.SessionTimeout.Seconds(), MemoryLimit: exit.OOMLimit}
	if unmasked != log {
		if n, counted := collectedIn(unmasked.Bytes()); counted {
			facts.Collected = &n
		}
		facts.Summary = summaryIn(unmasked.Bytes())
	}
	outcome, err := r.collect(ctx, w, session, key, exit, facts, setup.Bytes(), log.Bytes())
	if err == nil && r.neverJudged(exit, outcome) {
		err = r.Environment.verify(ctx, r, w.Addr, python)
	}
	return outcome, exit, err
}

// neverJudged reports whether pytest judged nothing, for a reason of
// its own.
func (r *Run) neverJudged(exit backend.Exit, o graph.Outcome) bool {
	if exit.TimedOut || exit.Signal != "" || exit.Code >= signalBase {
		return false
	}
	reported := slices.ContainsFunc(o.Outputs, func(o cache.Output) bool { return o.Name == OutputReport || o.Name == OutputCTRF })
	return !reported || exit.Code != exitOK && exit.Code != exitTestsFailed && exit.Code != exitNoTests
}

// open makes the workspace: the submission, what the set-up commands make of
// it, and only then everything of the problem's, so that no code which a
// submission gets to run before the tests can touch them, nor, of what is readOnly, while
// they run. more is placed last. A session is returned also with an error that came later; the
// caller closes it.
func (r *Run) open(ctx context.Context, w *graph.Work, setup io.Writer, last bool, more []backend.Input, readOnly ...string) (session backend.Session, python string, err error) {
	w.Phase(graph.Preparing)
	python, snapshot, err := r.Environment.prepare(ctx, r, r.Env.Preparing())
	if err != nil {
		return nil, "", err
	}
	w.Phase(graph.Workspace)
	submission, _ := w.Input("submission", "tree")
	spec := backend.Spec{Name: w.Addr, Snapshot: snapshot}
	empty := spec
	spec.Inputs, spec.ReadOnly = []backend.Input{{Path: ".", Tree: submission}}, readOnly
	session, err = r.Backend.Open(ctx, spec)
	if err != nil {
		return nil, "", fmt.Errorf("opening a session: %w", err)
	}
	env := r.environ(session.Dir(), r.Env.Preparing())
	if len(r.Setup) > 0 {
		w.Phase(graph.Executing)
	}
	if err := r.setUp(ctx, session, empty, env, setup, last); err != nil {
		return session, "", err
	}
	w.Phase(graph.Workspace)
	inputs, err := r.problemInputs(ctx, w)
	if err != nil {
		return session, "", err
	}
	if err := session.Place(ctx, append(inputs, more...)...); err != nil {
		return session, "", fmt.Errorf("placing the tests: %w", err)
	}
	return session, python, nil
}

// problemInputs lists what the problem puts over a submission, in the order in
// which it wins.
func (r *Run) problemInputs(ctx context.Context, w *graph.Work) ([]backend.Input, error) {
	tests, _ := w.Input("tests", "tree")
	empty, err := cache.PutBytes(ctx, w.Store, nil) // the empty Directory
	if err != nil {
		return nil, fmt.Errorf("storing an empty directory: %w", err)
	}
	inputs := []backend.Input{{Path: r.Directory, Tree: tests, Replace: true}}
	for _, a := range r.Assets {
		tree, _ := w.Input("asset "+a.Name, "tree")
		inputs = append(inputs, backend.Input{Path: path.Join(r.Directory, "assets"), Tree: tree})
	}
	return append(inputs,
		backend.Input{Path: reportsDir, Tree: empty, Replace: true},
		backend.Input{Path: iniPath, Content: r.ini(), Replace: true},
	), nil
}

// environ completes the environment of commands in a workspace at dir.
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

// setUp runs the set-up commands. One that fails, or takes too long, is the
// submission's affair and noted in the log, unless the machine lacks what it takes:
// that leaves no basis for a verdict. empty is a session without the submission.
func (r *Run) setUp(ctx context.Context, session backend.Session, empty backend.Spec, env []string, out io.Writer, last bool) error {
	left := r.SetupTimeout
	for _, line := range r.Setup {
		var said capped.Buffer // by the command alone: it is what gets judged
		fmt.Fprintf(out, "$ %s\n", backend.RedactBytes([]byte(line), r.Env.Masked()))
		redacted := backend.Redact(io.MultiWriter(&said, out), r.Env.Masked())
		exit, err := session.Exec(ctx, backend.Command{
			Argv: []string{"/bin/sh", "-c", line}, Env: env, Timeout: left, Online: true, Output: redacted,
		})
		if left > 0 { // one that used all of it leaves no time, which is not the same as no limit
			left = max(left-time.Duration(exit.Seconds*float64(time.Second)), time.Nanosecond)
		}
		redacted.Close()
		fmt.Fprintf(out, "[%s]\n", ending.Words("exit", exit))
		if err != nil {
			return fmt.Errorf("set-up command %q: %w", line, err)
		}
		if exit.Code == 0 && !exit.TimedOut {
			continue
		}
		lacks, err := r.Machine.Lacks(ctx, ending.Setup{Backend: r.Backend, Spec: empty, Env: r.Env.Preparing(), Secrets: r.Env.Masked(), Line: line, Exit: exit})
		if err = ending.Blame(lacks, err, said.Bytes(), last); err != nil {
			return fmt.Errorf("set-up command %q: %w", line, err)
		}
	}
	return nil
}
