package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/google/renameio/v2"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
	"github.com/fevalgraph/fevalgraph/view"
)

// When a run of everything left an answer for every node, it writes down what it
// depended on and what it came to. As long as none of that changed, the next
// run need not read the configuration, nor decide about any node, to know what
// it would find: each decision follows from what was read, and all of it would
// be read again. Whatever cannot be told for sure is decided anew.

// unchangedFile is the name of that record in the project's state directory.
const unchangedFile = "unchanged"

// unchanged is the record, but for the state of files.
type unchanged struct {
	Invocation []byte           `json:"invocation"` // sum of flags that matter
	Color      bool             `json:"color"`
	Salt       []byte           `json:"salt"`
	Env        []envSum         `json:"env"`
	Settings   lang.Settings    `json:"settings"`
	Store      string           `json:"store"`
	Used       time.Time        `json:"used"` // of the blob whose last noted use is longest ago
	Backends   []backendAnswers `json:"backends"`

	Run   string `json:"run"` // whose record has every node
	Nodes int    `json:"nodes"`
	Exit  int    `json:"exit"`
	Shown string `json:"shown"` // its results, as they were printed
	// What a run saves that serves every node; see event.RunEnd.
	SavedBytes   int64   `json:"saved_bytes"`
	SavedSeconds float64 `json:"saved_seconds"`
}

// backendAnswers is a backend and what it said of itself.
type backendAnswers struct {
	Block    *lang.Backend    `json:"block"`
	Identity backend.Identity `json:"identity"`
	Version  string           `json:"version"` // of the interpreter
	Platform string           `json:"platform"`
	Network  backend.Network  `json:"network,omitempty"` // "" when nothing depends on it
}

// repeatable reports whether a run with these flags and arguments can be
// repeated from memory, and be remembered.
func (a *app) repeatable(args []string, f runFlags) bool {
	readOnly, err := a.cacheReadOnly()
	return len(args)+len(f.only)+len(f.not)+len(f.force)+len(f.retry) == 0 && f.shard+f.pairs == "" && f.profile == "" && f.policy.policy == nil && !f.failFast &&
		!a.flags.verbose && !a.flags.json && err == nil && !readOnly
}

// invocation is the sum of what says which configuration is read, and how.
func (a *app) invocation() []byte {
	dir, err := filepath.Abs(a.flags.dir)
	if err != nil {
		return nil
	}
	encoded, err := json.Marshal([]any{Version(), dir, a.flags.file, a.flags.vars, a.flags.varFiles})
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(encoded)
	return sum[:]
}

// repeat does a whole run if nothing changed since one that is remembered. It
// reports whether it did.
func (a *app) repeat(ctx context.Context) (done bool, err error) {
	began := time.Now()
	state := a.projectState()
	u, snapshot, err := readUnchanged(filepath.Join(state, unchangedFile))
	if err != nil || !a.stillAsked(u) {
		return false, nil // there is always the long way
	}
	cfg := &lang.Config{Root: a.projectDir(), Settings: u.Settings}
	p := &project{app: a, cfg: cfg, state: state, run: newRunID()}
	if dir, err := a.cacheDir(cfg); err != nil || dir != u.Store {
		return false, nil
	}
	if p.store, err = p.openDisks(u.Store); err != nil {
		return false, nil
	}
	if err := p.openSessions(ctx); err != nil {
		return false, errors.Join(err, p.close())
	}
	p.locker = &locker{inside: map[plan.Driver]requirements.Resolver{}}
	if !p.holds(ctx, u, snapshot) {
		return false, p.close()
	}
	return true, p.finish(p.replay(u, began))
}

// stillAsked reports whether the same is asked for as then.
func (a *app) stillAsked(u *unchanged) bool {
	if !bytes.Equal(u.Invocation, a.invocation()) || u.Invocation == nil || u.Color != a.color() || time.Since(u.Used).Abs() > cache.UseInterval {
		return false
	}
	for _, was := range u.Env {
		value, set := a.io.LookupEnv(was.Name)
		if now := sumOf(u.Salt, was.Name, value, set); now.Set != was.Set || !bytes.Equal(now.Sum, was.Sum) {
			return false
		}
	}
	return true
}

// holds looks whether anything changed.
func (p *project) holds(ctx context.Context, u *unchanged, snapshot *cache.Snapshot) bool {
	record := filepath.Join(p.state, "runs", u.Run)
	for _, name := range []string{event.EventsFile, event.ResultsFile} {
		if _, err := os.Lstat(filepath.Join(record, name)); err != nil {
			return false
		}
	}
	different := errors.New("different")
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { // what is shown from memory could not be read back
		run, err := event.FindRun(p.state, u.Run)
		if err == nil {
			_, err = run.Results()
		}
		return err
	})
	group.Go(func() error {
		if snapshot.Changed(ctx) != "" {
			return different
		}
		return nil
	})
	for _, was := range u.Backends {
		group.Go(func() error {
			d, err := plan.OpenBackend(was.Block, p.environment())
			if err != nil {
				return err
			}
			now, err := answersOf(ctx, was.Block, d, was.Network != "")
			if err == nil && !reflect.DeepEqual(now, was) {
				err = different
			}
			return err
		})
	}
	return group.Wait() == nil
}

// answersOf asks a backend what keys depend on.
func answersOf(ctx context.Context, b *lang.Backend, d plan.Driver, network bool) (backendAnswers, error) {
	answers := backendAnswers{Block: b}
	var err error
	if answers.Identity, err = d.Identity(ctx); err != nil {
		return answers, err
	}
	if _, answers.Version, err = d.Interpreter(ctx); err != nil {
		return answers, err
	}
	if answers.Platform, err = d.Platform(ctx); err != nil {
		return answers, err
	}
	if network {
		answers.Network = d.Network()
	}
	return answers, nil
}

// replay records and shows a run that comes to what u says.
func (p *project) replay(u *unchanged, began time.Time) error {
	a := p.app
	mode, err := a.progressMode()
	if err != nil {
		return err
	}
	jobs, err := a.jobs()
	if err != nil {
		return err
	}
	recorder, err := event.NewRecorder(p.state, p.run)
	if err != nil {
		return exit(exitNotJudged, err)
	}
	shown := view.New(mode, view.Options{Out: a.io.Out, Err: a.io.Err, Color: a.colorErr(), Quiet: a.flags.quiet, LookupEnv: a.io.LookupEnv})
	sinks := event.Sinks{recorder, shown}
	sinks.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: p.run, Version: Version(), Nodes: u.Nodes, Time: began, Jobs: jobs})
	err = recorder.Same(event.RunSame{Type: "run.same", As: u.Run, Nodes: u.Nodes})
	end := event.RunEnd{Type: "run.end", Run: p.run, Nodes: u.Nodes, Cached: u.Nodes, Seconds: time.Since(began).Seconds(), Exit: u.Exit,
		SavedBytes: u.SavedBytes, SavedSeconds: u.SavedSeconds}
	if err != nil {
		end.Exit = exitNotJudged
	}
	sinks.Emit(end)
	err = errors.Join(err, recorder.Close(), shown.Close())
	if !a.flags.quiet {
		fmt.Fprint(a.io.Out, u.Shown)
		view.RunSummary(a.io.Err, end, nil)
	}
	if err != nil {
		return exit(exitNotJudged, err)
	}
	if u.Exit != exitPassed {
		return exit(u.Exit, nil)
	}
	return nil
}

// remember writes down a run after which everything is fresh. A run that is not
// remembered loses nothing.
func (p *project) remember(ctx context.Context, rep *graph.Report, results *report.Results, end event.RunEnd) error {
	path := filepath.Join(p.state, unchangedFile)
	o := p.observer
	if o == nil || !o.sameRoot() || results == nil || !answered(rep) || end.Exit > exitFailed || ctx.Err() != nil || !p.certain(rep) {
		return nil // one that is there tells by itself whether it still holds
	}
	disk, ok := p.store.(*cache.Disk)
	if !ok {
		return nil
	}
	u := &unchanged{Invocation: p.app.invocation(), Color: p.app.color(), Salt: newSalt(), Settings: p.cfg.Settings, Store: disk.Dir(),
		Run: p.run, Nodes: len(rep.Nodes), Exit: end.Exit, Shown: p.said.String()}
	u.SavedBytes, u.SavedSeconds = served(rep)
	u.Env = o.environment(u.Salt)
	looks, err := o.looks()
	if err != nil {
		return nil //nolint:nilerr // a fileset that has changed since
	}
	self, err := os.Executable()
	if err != nil {
		return nil //nolint:nilerr // then nobody knows which program this is
	}
	looks = append(looks, cache.Look{Path: self, Follow: true}, cache.Look{Path: p.locker.path, Follow: true}, cache.Look{Path: filepath.Join(p.state, "buildlog"), Young: true})
	u.Used = time.Now()
	for _, id := range rep.Nodes {
		if !p.plan.Graph.Node(id).Kept {
			continue
		}
		for _, out := range rep.Status(id).Outputs {
			blob, used, err := disk.Used(out.Digest)
			if err != nil {
				return nil //nolint:nilerr // it is gone, which the next run finds
			}
			// A use may just have been noted; damage that comes at once is found when
			// the blob is read, and changes nothing about what the results are.
			looks = append(looks, cache.Look{Path: blob, Young: true})
			if used.Before(u.Used) {
				u.Used = used
			}
		}
	}
	if u.Backends, err = p.backendAnswers(ctx); err != nil {
		return nil //nolint:nilerr // the next run will say what is wrong with it
	}
	snapshot, err := cache.TakeSnapshot(looks, o.began)
	if err != nil {
		return nil //nolint:nilerr // it has just been changed
	}
	return writeUnchanged(path, u, snapshot)
}

// served is what a run saves to which every node of rep is cached.
func served(rep *graph.Report) (bytes int64, seconds float64) {
	bytes, seconds = rep.Saved()
	for _, id := range rep.Nodes {
		if st := rep.Status(id); st.State != event.Cached {
			seconds += st.Seconds
			for _, o := range st.Outputs {
				bytes += o.Digest.Size
			}
		}
	}
	return bytes, seconds
}

// answered reports whether there is a stored answer for every node now, so that
// the next run would serve all of them.
func answered(rep *graph.Report) bool {
	return !slices.ContainsFunc(rep.Nodes, func(id graph.ID) bool {
		switch rep.Status(id).State {
		case event.Cached, event.Done, event.Timeout:
			return false
		}
		return true
	})
}

// unobserved reports whether there is a problem, or a node of a kind, that
// depends on more than the observer is told.
func (p *project) unobserved(rep *graph.Report) bool {
	if slices.ContainsFunc(p.cfg.Problems, func(x *lang.Problem) bool { return x.Pytest == nil }) {
		return true
	}
	return slices.ContainsFunc(rep.Nodes, func(id graph.ID) bool {
		switch p.plan.Graph.Node(id).Kind {
		case plan.KindMaterialize, plan.KindTests, plan.KindSubmission, plan.KindPytest, plan.KindParse, plan.KindAggregate:
			return false
		}
		return true
	})
}

// certain reports whether all that the run depended on was seen.
func (p *project) certain(rep *graph.Report) bool {
	for _, in := range p.cfg.Inputs {
		p.observer.note(in.Kind, in.Name)
	}
	secret := len(p.cfg.Secrets) > 0 || slices.ContainsFunc(p.cfg.Variables, func(v lang.Variable) bool { return v.Sensitive })
	return p.observer.doubt == "" && !p.unobserved(rep) && !secret && len(p.cfg.Exports) == 0 && len(p.plan.Cells) > 0
}

// backendAnswers are those of every backend that a cell is on.
func (p *project) backendAnswers(ctx context.Context) ([]backendAnswers, error) {
	var all []backendAnswers
	for _, d := range p.plan.Backends {
		network := slices.ContainsFunc(p.cfg.Problems, func(x *lang.Problem) bool { return x.Pytest != nil && len(x.Pytest.Ports) > 0 })
		answers, err := answersOf(ctx, d.Block, d.Driver, network)
		if err != nil {
			return nil, err
		}
		all = append(all, answers)
	}
	return all, nil
}

// The record's file begins with a magic text, the size of the JSON of unchanged,
// and its sum; then come that JSON and the state of files.
const unchangedMagic = "fevalgraph-unchanged 1\n"

const unchangedHeader = len(unchangedMagic) + 8 + sha256.Size

func writeUnchanged(path string, u *unchanged, snapshot *cache.Snapshot) error {
	encoded, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("encoding what the run depended on: %w", err)
	}
	sum := sha256.Sum256(encoded)
	b := append([]byte(unchangedMagic), binary.LittleEndian.AppendUint64(nil, uint64(len(encoded)))...)
	b = snapshot.AppendTo(append(append(b, sum[:]...), encoded...))
	if err := renameio.WriteFile(path, b, 0o600, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("writing down what the run depended on: %w", err)
	}
	return nil
}

var errBadUnchanged = errors.New("malformed record of an unchanged run")

func readUnchanged(path string) (*unchanged, *cache.Snapshot, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return decodeUnchanged(b)
}

func decodeUnchanged(b []byte) (*unchanged, *cache.Snapshot, error) {
	if len(b) < unchangedHeader || string(b[:len(unchangedMagic)]) != unchangedMagic {
		return nil, nil, errBadUnchanged
	}
	size := binary.LittleEndian.Uint64(b[len(unchangedMagic):])
	rest := b[unchangedHeader:]
	if size > uint64(len(rest)) {
		return nil, nil, errBadUnchanged
	}
	encoded := rest[:size]
	if sum := sha256.Sum256(encoded); !bytes.Equal(sum[:], b[unchangedHeader-sha256.Size:unchangedHeader]) {
		return nil, nil, errBadUnchanged
	}
	u := new(unchanged)
	if err := json.Unmarshal(encoded, u); err != nil {
		return nil, nil, errBadUnchanged
	}
	snapshot, err := cache.DecodeSnapshot(rest[size:])
	return u, snapshot, err
}
