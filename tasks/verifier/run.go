package verifier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// FromSubmission is the name of Run's dependency with a solution's files, whose paths are absolute, without
// the first slash.
const FromSubmission = "submission"

// The outputs of Run.
const (
	OutputExit    = "exit"
	OutputTiming  = "timing"
	OutputRewards = "rewards" // a JSON object of numbers; missing if the script reached its limit
	OutputCTRF    = "ctrf"    // ctrf.json, if it exists
	OutputFiles   = "files"   // tree of the files in /logs/verifier
	OutputLog     = graph.LogOutput
)

// Run is the task that runs a script on a submission.
type Run struct {
	Tests     []string // dependencies whose trees are merged at /tests; later ones win
	Artifacts []string // absolute paths of files and directories of FromSubmission
	// MayLackAll reports that a submission without any of the Artifacts is judged, like that of an agent that
	// does nothing.
	MayLackAll bool
	Workdir    string // absolute; "" means the image's
	// NoImage reports that commands see this machine's files, which lack the Workdir unless an artifact is in it.
	NoImage bool
	Timeout time.Duration
	Offline bool
	GPU     bool
	Env     session.Environment
	// Inherited are the variables of Env whose secret values can change an outcome.
	Inherited []session.Variable
	BrokenIf  []Rule
	// Reward is the name of the reward that is the score. It is in no key: if it is not a number, nothing is
	// stored.
	Reward string
	Repeat int
	// VerifyInputs are called after the script. They return an error if files that it read in place no longer
	// have the content in the key.
	VerifyInputs []func() error
	Lacks        error        // why it cannot run; nil means that it can
	Keep         session.Keep // in no key

	Backend  backend.Backend
	Identity func(context.Context) (backend.Identity, error) // of Backend, cached by the caller
}

// Paths in the session's workspace, and for the script.
const (
	submissionDir = "submission"
	testsDir      = "tests"
	workDir       = "workdir"
	logsDir       = "logs/verifier"

	testsPlace     = "/tests"
	logsPlace      = "/logs/verifier"
	ArtifactsPlace = "/logs/artifacts" // the same for all solutions
)

// Exit is the content of OutputExit.
type Exit struct {
	session.Exit
	Unjudged string `json:"unjudged,omitempty"` // why the script gave no verdict, if the submission caused that
}

// Describe implements graph.Task.
func (r *Run) Describe(ctx context.Context, m *graph.Manifest) error {
	if r.Lacks != nil { // answers of other versions do not apply
		return r.Lacks
	}
	// 3: without artifacts, or with a link out of one, a submission is refused; only the reward
	// that is the score has to be a number
	// 4: what gives no verdict with a submission alone is that one's doing
	// 5: files in /logs/artifacts are artifacts, too; a file in place of the working directory is refused
	m.Int("recipe", 5)
	m.Strings("order of tests", r.Tests)
	m.Strings("artifacts", r.Artifacts)
	if r.MayLackAll {
		m.Bool("may lack all artifacts", true)
	}
	m.String("workdir", r.Workdir)
	m.String("timeout", r.Timeout.String())
	m.Bool("offline", r.Offline)
	m.Bool("gpu", r.GPU)
	m.Int("repeat", int64(r.Repeat))
	for i, rule := range r.BrokenIf {
		m.String(fmt.Sprintf("broken if %d", i+1), rule.text())
	}
	r.Env.Describe(m)
	session.DescribeInherited(m, r.Inherited)
	return session.WithClass(session.DescribeBackend(ctx, m, r.Identity))
}

// Run implements graph.Task.
func (r *Run) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	outcome, err := r.run(ctx, w)
	return outcome, session.WithClass(err)
}

func (r *Run) run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	submission, _ := w.Input(FromSubmission, tasks.TreeOutput)
	present, why, err := r.presentArtifacts(ctx, w.Store, submission)
	if err != nil {
		return graph.Outcome{}, err
	}
	if why != "" {
		return session.Refuse(ctx, w.Store, why)
	}
	if err := session.RequirePlaces(ctx, r.Backend, r.GPU); err != nil {
		return graph.Outcome{}, err
	}
	plan, err := r.plan(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	with, without := plan, plan
	with.Spec.Inputs = append(slices.Clip(plan.Spec.Inputs), backend.Input{Path: submissionDir, Tree: submission})
	for _, place := range present {
		with.Spec.Places = append(slices.Clip(with.Spec.Places), backend.Place{Path: submissionDir + place, At: place})
	}
	if err := errors.Join(r.addWorkdir(ctx, w.Store, &with.Spec, present), r.addWorkdir(ctx, w.Store, &without.Spec, nil)); err != nil {
		return graph.Outcome{}, err
	}
	var t trial
	outcome, err := session.Run(ctx, w, with, func(s *session.Session) (graph.Outcome, error) {
		t, err = r.grade(ctx, w, s)
		if err == nil && t.unjudged != nil && !t.isKilled() {
			err = s.Again(fmt.Sprintf("%v; the script runs once more", t.unjudged))
		}
		return t.Outcome, err
	})
	if err != nil || t.unjudged == nil {
		return outcome, err
	}
	return r.blame(ctx, w, without, t)
}

// addWorkdir adds an empty working directory if artifacts belong there, but a submission has none of them. An image
// has one, so that a script decides what that means.
func (r *Run) addWorkdir(ctx context.Context, store cache.Store, spec *backend.Spec, present []string) error {
	inside := func(place string) bool { return place == r.Workdir || strings.HasPrefix(place, r.Workdir+"/") }
	if !r.NoImage || !slices.ContainsFunc(r.Artifacts, inside) || slices.ContainsFunc(present, inside) || slices.Contains(existing, r.Workdir) {
		return nil
	}
	tree, err := emptyDirectory(ctx, store, workDir)
	if err != nil {
		return fmt.Errorf("creating a working directory: %w", err)
	}
	spec.Inputs = append(slices.Clip(spec.Inputs), backend.Input{Tree: tree})
	spec.Places = append(slices.Clip(spec.Places), backend.Place{Path: workDir, At: r.Workdir})
	return nil
}

// existing lists directories that commands see without an image, too.
var existing = []string{"", "/", "/tmp", "/var/tmp"}

// emptyDirectory stores a tree with an empty directory.
func emptyDirectory(ctx context.Context, store cache.Store, name string) (cache.Digest, error) {
	tree, err := cache.BuildTree([]cache.Entry{{Path: name, Dir: true}})
	if err == nil {
		err = tree.Store(ctx, store)
	}
	return tree.Root, err
}

// trial is a run of the script, with its outputs.
type trial struct {
	session.Keeper
	exit     Exit
	took     session.Timing
	unjudged error // why the verdict is missing
}

// isKilled reports whether a signal ended the script. A process of the solution could kill it at a moment
// when the reward is favourable.
func (t *trial) isKilled() bool { return t.exit.Signal != "" || t.exit.Code == killedStatus }

// end stores how the script ended.
func (t *trial) end() (graph.Outcome, error) {
	t.JSON(OutputExit, t.exit)
	t.JSON(OutputTiming, t.took)
	return t.Outcome, t.Err
}

// blame decides who caused a missing verdict. If the script gives a verdict without the submission, the
// submission prevented it, and must not be able to avoid a score. A submission that is correct by chance
// must not have another chance by killing the script, so one such end is enough.
func (r *Run) blame(ctx context.Context, w *graph.Work, plan session.Plan, t trial) (graph.Outcome, error) {
	w.Note("the script runs without the submission: " + t.unjudged.Error())
	return session.Run(ctx, w, plan, func(s *session.Session) (graph.Outcome, error) {
		without, err := r.grade(ctx, w, s)
		switch {
		case err != nil:
			return graph.Outcome{}, err
		case without.unjudged != nil || without.exit.TimedOut:
			return graph.Outcome{}, t.unjudged
		}
		t.exit.Unjudged = t.unjudged.Error()
		return t.end()
	})
}

// grade runs the script and stores its outputs.
func (r *Run) grade(ctx context.Context, w *graph.Work, s *session.Session) (trial, error) {
	t := trial{Keeper: session.Keeper{Ctx: ctx, Store: w.Store}}
	ran, err := s.Execute(ctx, session.Program{Name: "the verifier", Command: r.command()})
	if err != nil {
		return t, err
	}
	t.exit, t.took = Exit{Exit: ran.Stored(r.Timeout)}, s.Timing(ran.Exit)
	t.Keep(OutputLog, ran.Output)
	left, err := r.collect(ctx, s.Session, w)
	if err != nil {
		return t, err
	}
	r.keepFiles(&t, left)
	if r.judge(&t, left, &ran); t.unjudged == nil {
		_, err = t.end()
	}
	return t, err
}

// judge finds the rewards, or the reason why they are missing.
func (r *Run) judge(t *trial, left scriptFiles, ran *session.Printed) {
	if ran.TimedOut {
		t.Outcome.Class, t.Outcome.Message = cache.ClassTimeout, limitMessage(r.Timeout)
		return
	}
	for _, rule := range r.BrokenIf {
		if why := rule.brokenText(left); why != "" {
			t.unjudged = fmt.Errorf("the verifier reports that its machine failed: %s", why)
			return
		}
	}
	if t.isKilled() {
		t.unjudged = errors.New("the verifier was killed, so its reward proves nothing")
		return
	}
	rewards, err := readRewards(left, r.Reward)
	if err != nil {
		t.unjudged = missingVerdict(err, ran.Exit, ran.Output)
		return
	}
	t.JSON(OutputRewards, rewards)
	if text, ok := left.files["ctrf.json"]; ok {
		t.Keep(OutputCTRF, backend.RedactJSON(text, r.Env.Secrets()))
	}
}

// killedStatus is a shell's exit code for a program that SIGKILL ended: in a container, the program that
// waits for the script can be killed instead.
const killedStatus = 128 + 9

// start is the shell code that execs the script, so that a signal that ends the script is visible. HOME is
// that of its user, unless the environment sets it.
const start = `[ -n "${HOME-}" ] || { unset HOME; export HOME=~; }
chmod +x /tests/test.sh 2>/dev/null
exec /tests/test.sh`

func (r *Run) command() backend.Command {
	return backend.Command{
		Argv: []string{"bash", "-c", start}, Env: r.Env.Variables(), At: cmp.Or(r.Workdir, "."), Timeout: r.Timeout, Offline: r.Offline,
	}
}

// plan returns the description of a workspace without a submission.
func (r *Run) plan(ctx context.Context, w *graph.Work) (session.Plan, error) {
	p := session.Plan{Backend: r.Backend, Spec: backend.Spec{Name: w.Addr}, Env: r.Env, VerifyInputs: r.VerifyInputs, Keep: r.Keep, Submitted: true}
	logs, err := emptyDirectory(ctx, w.Store, logsDir)
	if err != nil {
		return p, fmt.Errorf("creating a directory for rewards: %w", err)
	}
	p.Spec.Inputs = []backend.Input{{Tree: logs}}
	p.Spec.Places = []backend.Place{{Path: logsDir, At: logsPlace}}
	for _, name := range r.Tests {
		tree, ok := w.Input(name, tasks.TreeOutput)
		if !ok {
			return p, fmt.Errorf("dependency %q has no tree", name)
		}
		p.Spec.Inputs = append(p.Spec.Inputs, backend.Input{Path: testsDir, Tree: tree})
	}
	if len(r.Tests) > 0 {
		p.Spec.Places = append(p.Spec.Places, backend.Place{Path: testsDir, At: testsPlace})
	}
	return p, nil
}

// presentArtifacts returns the artifacts that a submission has, by their absolute paths, or why it is refused.
// Missing artifacts are not placed, as if an agent had not written them: the script must handle that,
// unless all are missing. A link in an artifact must stay inside it, since other paths differ from where
// it was created.
func (r *Run) presentArtifacts(ctx context.Context, store cache.Store, submission cache.Digest) (all []string, why string, err error) {
	known, dirs, links := map[string]bool{}, map[string]bool{}, map[string]string{}
	collected := false // files in ArtifactsPlace
	err = cache.WalkTree(ctx, store, submission, func(e cache.Entry) error {
		name := "/" + e.Path
		if e.Link != "" {
			links[name] = e.Link
		} else {
			known[name], dirs[name] = true, e.Dir
		}
		collected = collected || !e.Dir && strings.HasPrefix(name, ArtifactsPlace+"/")
		for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
			known[dir], dirs[dir] = true, true
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("reading the submission: %w", err)
	}
	covered := false
	for _, place := range r.Artifacts {
		if known[place] {
			all = append(all, place)
		}
		covered = covered || place == ArtifactsPlace || place == path.Dir(ArtifactsPlace)
	}
	if known[ArtifactsPlace] && !covered && (len(all) > 0 || collected || r.MayLackAll) {
		all = append(all, ArtifactsPlace)
	}
	if len(all) == 0 && !r.MayLackAll {
		why := "the solution has none of the artifacts: " + strings.Join(r.Artifacts, ", ")
		for _, link := range slices.Sorted(maps.Keys(links)) { // the message is stored
			if slices.ContainsFunc(r.Artifacts, func(place string) bool { return place == link || strings.HasPrefix(place, link+"/") }) {
				return nil, fmt.Sprintf("%s; %s is a link to %q", why, link, links[link]), nil
			}
		}
		return nil, why, nil
	}
	for _, place := range all {
		if place == r.Workdir && !dirs[place] {
			return nil, fmt.Sprintf("the artifact %s is a file, but the script starts in this directory", place), nil
		}
		below := map[string]string{}
		for link, target := range links {
			if rel, ok := strings.CutPrefix(link, place+"/"); ok {
				below[rel] = target
			}
		}
		if why := tasks.LinksOut(below); why != "" {
			return nil, fmt.Sprintf("the artifact %s: %s", place, why), nil
		}
	}
	return all, "", nil
}

// missingVerdict explains a missing verdict, with the last line that the script printed.
func missingVerdict(err error, exit backend.Exit, said []byte) error {
	if end := session.Words("exit code", exit); exit.Code != 0 || exit.Signal != "" {
		err = fmt.Errorf("%w (%s)", err, end)
	}
	if line := session.LastLine(said); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return err
}

func limitMessage(limit time.Duration) string {
	return fmt.Sprintf("the verifier exceeded the limit of %v", limit)
}
