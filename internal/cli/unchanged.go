package cli

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/unsynced"
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
	Used       time.Time        `json:"used"` // of the blob whose last noted use is longest ago
	Backends   []backendAnswers `json:"backends"`
	Exports    []exported       `json:"exports,omitempty"`

	Run   string `json:"run"` // whose record has every node
	Nodes int    `json:"nodes"`
	Exit  int    `json:"exit"`
	Shown string `json:"-"` // its results, as they were printed
	// What a run saves that serves every node; see event.RunEnd.
	SavedBytes   int64   `json:"saved_bytes"`
	SavedSeconds float64 `json:"saved_seconds"`

	// For runs of a part: how many came after the run of everything, and the sums
	// of the files beside this one, nil when there is none.
	Parts         int    `json:"parts"`
	Sources       []byte `json:"sources,omitempty"`
	Conclusions   []byte `json:"conclusions,omitempty"`
	Status        []byte `json:"status,omitempty"`
	Configuration []byte `json:"configuration,omitempty"`
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
	if m == nil || m.Color != a.color() || time.Since(m.Used).Abs() > cache.UseInterval || !p.recorded(m) {
		return false, nil
	}
	if err := p.openSessions(ctx); err != nil {
		return false, errors.Join(err, p.close())
	}
	var results []byte
	files, ok := p.changed(ctx, m, func() error { // what is shown from memory could not be read back
		run, err := event.FindRun(p.state, m.Run)
		if err == nil {
			results, err = run.Results()
		}
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

// recorded reports whether the record of the remembered run is there.
func (p *project) recorded(m *memory) bool {
	for _, name := range []string{event.EventsFile, event.ResultsFile} {
		if _, err := os.Lstat(filepath.Join(p.state, "runs", m.Run, name)); err != nil {
			return false
		}
	}
	return true
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

// The record's file begins with a magic text, the sizes of the JSON of unchanged and
// of what the run showed, and the sum of both; then come these, and the state of
// files.
const unchangedMagic = "fevalgraph-unchanged 3\n"

const unchangedHeader = len(unchangedMagic) + 2*8 + sha256.Size

func writeUnchanged(path string, u *unchanged, snapshot *cache.Snapshot) error {
	encoded, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("encoding what the run depended on: %w", err)
	}
	sum := sha256.New()
	sum.Write(encoded)
	io.WriteString(sum, u.Shown)
	head := binary.LittleEndian.AppendUint64([]byte(unchangedMagic), uint64(len(encoded)))
	head = sum.Sum(binary.LittleEndian.AppendUint64(head, uint64(len(u.Shown))))
	if err := unsynced.Write(path, 0o600, append([][]byte{head, encoded, []byte(u.Shown)}, snapshot.Parts()...)...); err != nil {
		return fmt.Errorf("writing down what the run depended on: %w", err)
	}
	return nil
}

var errBadUnchanged = errors.New("malformed record of an unchanged run")

func readUnchanged(state string) (*memory, error) {
	b, err := os.ReadFile(filepath.Join(state, unchangedFile))
	if err != nil {
		return nil, err
	}
	return decodeUnchanged(b)
}

func decodeUnchanged(b []byte) (*memory, error) {
	if len(b) < unchangedHeader || string(b[:len(unchangedMagic)]) != unchangedMagic {
		return nil, errBadUnchanged
	}
	size, shown := binary.LittleEndian.Uint64(b[len(unchangedMagic):]), binary.LittleEndian.Uint64(b[len(unchangedMagic)+8:])
	rest := b[unchangedHeader:]
	if size > uint64(len(rest)) || shown > uint64(len(rest))-size {
		return nil, errBadUnchanged
	}
	if sum := sha256.Sum256(rest[:size+shown]); !bytes.Equal(sum[:], b[unchangedHeader-sha256.Size:unchangedHeader]) {
		return nil, errBadUnchanged
	}
	encoded, rest := rest[:size], rest[size:]
	u := new(unchanged)
	if err := json.Unmarshal(encoded, u); err != nil {
		return nil, errBadUnchanged
	}
	u.Shown, rest = string(rest[:shown]), rest[shown:]
	snapshot, err := cache.DecodeSnapshot(rest)
	if err != nil {
		return nil, err
	}
	return &memory{u, snapshot}, nil
}
