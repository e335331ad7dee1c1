package gen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Outcome classifies the result of a step.
type Outcome string

// The outcomes.
const (
	Written  Outcome = "written"   // its files are new
	Same     Outcome = "same"      // its files are in place already
	Kept     Outcome = "kept"      // not requested: its files exist
	Edited   Outcome = "edited"    // its files have been edited since, and stay
	Unusable Outcome = "unusable"  // the answer is not a solution
	NoAnswer Outcome = "no answer" // without an answer
)

// Placed is the result of a step.
type Placed struct {
	Step    *Step
	Outcome Outcome
	Asked   bool   // requested in this call
	Reason  string // of Unusable and NoAnswer; of others, a note about a choice between blocks of code
	Usage   Usage  // of its answer, whenever that came
}

// placing writes the files of one attempt.
type placing struct {
	rep     *graph.Report
	store   cache.Store
	root    *os.Root // the generator's directory
	record  record
	changed bool // an earlier checkpoint is another than before
	dirty   bool // the record is
}

// Place writes the code in answers below the directories of their generators, and returns the result of each
// requested step, in order. It keeps files that were edited by hand. It removes code of later checkpoints
// that was made from other code than the current one.
func (b *Batch) Place(ctx context.Context, rep *graph.Report, store cache.Store) ([]Placed, error) {
	var all []Placed
	var errs []error
	for i := 0; i < len(b.Steps); {
		end := i + 1
		for end < len(b.Steps) && b.Steps[end].Before != nil {
			end++
		}
		placed, err := b.placeAttempt(ctx, b.Steps[i:end], rep, store)
		all, errs = append(all, placed...), append(errs, err)
		i = end
	}
	return all, errors.Join(errs...)
}

func (b *Batch) placeAttempt(ctx context.Context, steps []*Step, rep *graph.Report, store cache.Store) ([]Placed, error) {
	g, base := steps[0].Generator, steps[0].Base()
	p := &placing{rep: rep, store: store}
	if slices.ContainsFunc(steps, p.leaves) { // and no empty directory is made
		if err := os.MkdirAll(g.Directory, 0o755); err != nil {
			return nil, err
		}
		var err error
		if p.root, err = os.OpenRoot(g.Directory); err != nil {
			return nil, err
		}
		defer p.root.Close()
		if err := p.root.MkdirAll(path.Dir(base), 0o755); err != nil {
			return nil, err
		}
		p.record = readRecord(p.root, base)
	}
	var all []Placed
	for _, s := range steps {
		one, err := p.step(ctx, s)
		if err != nil {
			return all, fmt.Errorf("writing %s: %w", filepath.Join(g.Directory, filepath.FromSlash(s.Place)), err)
		}
		if rep.Status(s.Files).State != "" {
			all = append(all, one)
		}
	}
	if !p.dirty {
		return all, nil
	}
	p.record.label(steps[0])
	return all, p.record.write(p.root, base)
}

// leaves reports whether a step has files, or a reason why its answer has none.
func (p *placing) leaves(s *Step) bool {
	st := p.rep.Status(s.Files)
	return s.Answer >= 0 && (st.State == event.Done || st.State == event.Cached || st.State == event.Failed) && !st.Input
}

// step places the result of one step.
func (p *placing) step(ctx context.Context, s *Step) (Placed, error) {
	done := Placed{Step: s}
	st := p.rep.Status(s.Files)
	if s.Answer < 0 {
		done.Outcome = Kept
		return done, nil
	}
	answered := p.rep.Status(s.Answer)
	done.Asked = answered.State == event.Done
	if err := p.usage(ctx, &done, answered); err != nil {
		return done, err
	}
	root, ok := st.Output(treeOutput)
	switch {
	case ok:
		done.Reason = st.Message
		return done, p.files(ctx, &done, root.Digest, answered.Key)
	case p.leaves(s):
		done.Outcome, done.Reason = Unusable, st.Message
		return done, p.writeMarker(&done, answered.Key)
	}
	done.Outcome, done.Reason = NoAnswer, p.reason(s)
	if p.changed {
		return done, p.remove(s, true)
	}
	return done, nil
}

// reason returns why a step has no answer.
func (p *placing) reason(s *Step) string {
	for _, id := range []graph.ID{s.Prompt, s.Answer, s.Files} {
		if st := p.rep.Status(id); st.Message != "" {
			return st.Message
		}
	}
	if st := p.rep.Status(s.Files); st.State == event.Blocked && s.Before != nil {
		return "the code of the checkpoint before is missing"
	}
	return string(p.rep.Status(s.Files).State)
}

// usage sets the usage of an answer.
func (p *placing) usage(ctx context.Context, done *Placed, st *graph.Status) error {
	o, ok := st.Output(usageOutput)
	if !ok {
		return nil
	}
	text, err := cache.ReadBlob(ctx, p.store, o.Digest, 1<<20)
	if err != nil {
		return err
	}
	var how ended
	if err := json.Unmarshal(text, &how); err != nil {
		return err
	}
	done.Usage = done.Step.Generator.of(how.Usage)
	return nil
}

// note records the facts about a step.
func (p *placing) note(done *Placed, m codeRecord) {
	m.Input, m.Output = done.Usage.InputTokens, done.Usage.OutputTokens
	if done.Step.Generator.Price != nil {
		m.Cost = &done.Usage.Cost
	}
	p.record.Checkpoints[done.Step.Checkpoint.Name] = m
	p.dirty = true
}

// files puts a tree in its place.
func (p *placing) files(ctx context.Context, done *Placed, tree cache.Digest, request cache.Key) error {
	s := done.Step
	now := codeRecord{Request: request.String(), Tree: tree.String()}
	there, err := p.state(s)
	if err != nil {
		return err
	}
	switch {
	case there == tree.String():
		// A killed call can have written the tree without the record.
		p.changed = p.changed || p.record.Checkpoints[s.Checkpoint.Name].Tree != now.Tree
		done.Outcome = Same
		p.note(done, now)
		return p.unmark(s)
	case there != "" && there != p.record.Checkpoints[s.Checkpoint.Name].Tree:
		done.Outcome = Edited
		return nil
	}
	fresh := path.Join(path.Dir(s.Place), staging+path.Base(s.Place))
	if err := p.root.MkdirAll(path.Dir(s.Place), 0o755); err != nil {
		return err
	}
	if err := p.root.RemoveAll(fresh); err != nil {
		return err
	}
	if err := cache.PlaceTree(ctx, p.store, tree, p.root, fresh); err != nil {
		return err
	}
	if err := replaceDir(p.root, fresh, s.Place); err != nil {
		return err
	}
	done.Outcome, p.changed = Written, true
	p.note(done, now)
	return p.unmark(s)
}

// writeMarker writes a marker instead of code.
func (p *placing) writeMarker(done *Placed, request cache.Key) error {
	s := done.Step
	if err := p.remove(s, false); err != nil {
		return err
	}
	if there, err := p.state(s); err != nil || there != "" { // edited by hand
		done.Outcome = Edited
		return err
	}
	p.note(done, codeRecord{Request: request.String(), Failed: done.Reason})
	p.changed = true // code after a missing checkpoint must not be graded
	if err := p.root.MkdirAll(path.Dir(s.Place), 0o755); err != nil {
		return err
	}
	return writeFile(p.root, s.Place+FailedEnding, []byte(done.Reason+"\n"))
}

// remove removes the code of a step that this program has written, and with forget its record.
func (p *placing) remove(s *Step, forget bool) error {
	there, err := p.state(s)
	if err != nil || there != "" && there != p.record.Checkpoints[s.Checkpoint.Name].Tree {
		return err
	}
	if err := p.root.RemoveAll(s.Place); err != nil {
		return err
	}
	if _, known := p.record.Checkpoints[s.Checkpoint.Name]; !known || !forget {
		return nil
	}
	delete(p.record.Checkpoints, s.Checkpoint.Name)
	p.dirty = true
	return p.unmark(s)
}

// unmark removes the marker of a step.
func (p *placing) unmark(s *Step) error {
	if err := p.root.Remove(s.Place + FailedEnding); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// state returns the digest of the files in the place of a step, "" if it is empty, and another text if it
// contains anything but plain files.
func (p *placing) state(s *Step) (string, error) {
	if _, err := p.root.Lstat(s.Place); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	files, err := readFiles(p.root, s.Place)
	if err != nil {
		return "other", nil //nolint:nilerr // not written by this program
	}
	tree, err := treeOf(files)
	if err != nil {
		return "other", nil //nolint:nilerr // as above
	}
	return tree.String(), nil
}

// Present reports whether the place of a step contains code, or a marker that it failed.
func (s *Step) Present() (there, failed bool) {
	place := filepath.Join(s.Generator.Directory, filepath.FromSlash(s.Place))
	_, err := os.Lstat(place)
	_, marked := os.Lstat(place + FailedEnding)
	return err == nil, marked == nil
}
