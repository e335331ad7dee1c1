package cli

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang"
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
	Invocation []byte           `json:"invocation"` // salted sum of flags that matter
	Color      bool             `json:"color"`
	Salt       []byte           `json:"salt"`
	Env        []envSum         `json:"env"`
	Settings   lang.Settings    `json:"settings"`
	Store      string           `json:"store"`
	Backends   []backendAnswers `json:"backends"`
	Exports    []exported       `json:"exports,omitempty"`
	Nodes      int              `json:"nodes"`
	ending

	// For runs of a part: the sums of the files beside this one, nil when there is
	// none.
	Sources       []byte `json:"sources,omitempty"`
	Conclusions   []byte `json:"conclusions,omitempty"`
	Status        []byte `json:"status,omitempty"`
	Configuration []byte `json:"configuration,omitempty"`
}

// ending is what a run came to that left an answer for every node.
type ending struct {
	Run   string    `json:"run"` // whose record has every node
	Exit  int       `json:"exit"`
	Shown string    `json:"-"`    // its results, as they were printed
	Used  time.Time `json:"used"` // of the blob whose last noted use is longest ago
	// What a run saves that serves every node; see event.RunEnd.
	SavedBytes   int64   `json:"saved_bytes"`
	SavedSeconds float64 `json:"saved_seconds"`
}

// repeatable reports whether a run with these flags and arguments can be
// repeated from memory, and be remembered.
func (a *app) repeatable(args []string, f runFlags) bool {
	readOnly, err := a.cacheReadOnly()
	return len(args)+len(f.only)+len(f.not)+len(f.force)+len(f.retry) == 0 && f.shard+f.pairs == "" && f.profile == "" && f.policy.policy == nil && !f.failFast &&
		!a.flags.verbose && !a.flags.json && err == nil && !readOnly
}

// invocation is the sum of what says which configuration is read, and how. It is
// salted, because variables may be sensitive.
func (a *app) invocation(salt []byte) []byte {
	dir, err := filepath.Abs(a.flags.dir)
	if err != nil {
		return nil
	}
	encoded, err := json.Marshal([]any{Version(), dir, a.flags.file, a.flags.vars, a.flags.varFiles})
	if err != nil {
		return nil
	}
	h := hmac.New(sha256.New, salt)
	h.Write(encoded)
	return h.Sum(nil)
}

// repeat does a whole run if nothing changed since one that is remembered, or
// what did lets it do with a part. It reports whether it did.
func (a *app) repeat(ctx context.Context) (done bool, err error) {
	a.observer = newObserver(a.projectDir())
	p, m := a.recall(a.observer.began, writing)
	if m == nil || m.Color != a.color() || time.Since(m.Used).Abs() > cache.UseInterval || !event.OpenRun(p.state, m.Run).Whole() {
		return false, nil
	}
	if err := p.openSessions(ctx); err != nil {
		return false, errors.Join(err, p.close())
	}
	var results recorded
	files, ok := p.changed(ctx, m, func() (err error) { // what is shown from memory could not be read back
		results, err = recordedIn(event.OpenRun(p.state, m.Run))
		return err
	})
	if !ok {
		return false, p.close()
	}
	if len(files) == 0 {
		return true, p.finish(p.replay(m.unchanged, p.began))
	}
	part := p.openPart(m, files)
	if part == nil || part.cellsWere(results) != nil {
		return false, p.close()
	}
	err = p.evaluateAll(ctx)
	if errors.Is(err, errLostPart) {
		return false, p.abandon()
	}
	return true, p.finish(err)
}

// evaluateAll evaluates whatever is in the plan.
func (p *project) evaluateAll(ctx context.Context) error {
	targets, err := p.targets(ctx, selection{})
	if err != nil {
		return err
	}
	return p.evaluate(ctx, evaluation{targets: targets})
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
	err = errors.Join(err, p.exportAgain(u))
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

const unchangedMagic = "fevalgraph-unchanged 4\n"

func writeUnchanged(path string, u *unchanged, snapshot *cache.Snapshot) error {
	encoded, err := json.Marshal(u)
	if err == nil {
		err = writeRemembered(path, unchangedMagic, snapshot, encoded, []byte(u.Shown))
	}
	if err != nil {
		return fmt.Errorf("writing down what the run depended on: %w", err)
	}
	return nil
}

func decodeUnchanged(b []byte) (*unchanged, *cache.Snapshot, error) {
	sections, snapshot, err := splitRemembered(b, unchangedMagic, 2)
	if err != nil {
		return nil, nil, err
	}
	u := new(unchanged)
	if err := json.Unmarshal(sections[0], u); err != nil {
		return nil, nil, errBadUnchanged
	}
	u.Shown = string(sections[1])
	return u, snapshot, nil
}
