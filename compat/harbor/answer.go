package harbor

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// answers are the problems of a configuration.
type answers struct {
	tasks  map[string]*answer // by the name of the task that a problem is
	others map[string]*answer // by their own names
}

// find returns the problem whose task has a name or, for problems of other kinds, whose own name is the task's
// without its organization. It returns nil if no problem fits.
func (a *answers) find(task string) *answer {
	if one := a.tasks[task]; one != nil {
		return one
	}
	return a.others[path.Base(task)]
}

// answer is a problem as a trial that answers it needs it.
type answer struct {
	problem int
	names   []string // of the problems that are its task; there has to be one
	reward  string   // name of the number that is the score
	steps   []string // the names of its checkpoints
	task    *task    // nil if the problem is not a task of Harbor
	digest  *string  // of the task's directory; nil means not computed yet
}

// version returns the digest of the local task, or "" if it is unknown. It is computed only for a trial to
// compare, because it reads all files of the task.
func (a *answer) version(files *lang.ReaderFiles) string {
	if a.digest == nil {
		digest, err := taskDigest(files.FS(a.task.dir))
		if err != nil {
			digest = "" // an unreadable file is the problem's error, or not part of it
		}
		a.digest = &digest
	}
	return *a.digest
}

func newAnswers(files *lang.ReaderFiles, problems []lang.Candidate) *answers {
	all := &answers{tasks: map[string]*answer{}, others: map[string]*answer{}}
	for i, p := range problems {
		one := &answer{problem: i, names: []string{p.Name}, reward: cmp.Or(p.Score, "reward"), steps: p.Checkpoints}
		if p.Reader != block {
			all.others[p.Name] = one
			continue
		}
		one.task = openTask(files, p.Attributes["task"]) // whose errors are the problem's
		if before := all.tasks[one.task.Name]; before != nil {
			one.names = append(before.names, p.Name)
		}
		all.tasks[one.task.Name] = one
	}
	return all
}

// collected returns a trial as a solution.
func (a *answer) collected(files *lang.ReaderFiles, t *trial, attempt int) lang.Collected {
	c := lang.Collected{Name: filepath.Base(t.dir), Problem: a.problem, Labels: t.labels(), Recorded: t.recorded(files, a), Checkpoints: map[string]lang.CollectedCheckpoint{}}
	c.Labels["attempt"] = strconv.Itoa(attempt)
	mismatch := a.mismatch(t)
	for _, one := range c.Recorded.Checkpoints {
		switch {
		case mismatch != nil:
			c.Checkpoints[one.Name] = lang.CollectedCheckpoint{Source: t.dir, Unusable: t.unusable("", mismatch)}
		case t.neverRan():
			c.Checkpoints[one.Name] = lang.CollectedCheckpoint{Source: t.dir, Unusable: t.unusable("", errors.New("its agent never ran"))}
		case one.Reached && len(t.Steps) == 0:
			c.Checkpoints[one.Name] = a.checkpoint(files, t, "")
		case one.Reached:
			c.Checkpoints[one.Name] = a.checkpoint(files, t, one.Name)
		case t.interrupted():
			c.Checkpoints[one.Name] = lang.CollectedCheckpoint{Source: t.dir, Unusable: t.unusable(one.Name, errors.New("it never started"))}
		}
	}
	return c
}

// mismatch returns an error if the steps of a trial differ from those of the problem. A trial that ended
// early has the first of them.
func (a *answer) mismatch(t *trial) error {
	if len(t.Steps) == 0 {
		if len(a.steps) > 1 && !t.interrupted() {
			return fmt.Errorf("it has no steps, but the problem has %d", len(a.steps))
		}
		return nil
	}
	var names []string
	for _, s := range t.Steps {
		names = append(names, s.Name)
	}
	if len(names) > len(a.steps) || !slices.Equal(names, a.steps[:len(names)]) {
		return fmt.Errorf("its steps are %s, but the problem's steps are %s", diag.Some(names), diag.Some(a.steps))
	}
	return nil
}

// checkpoint returns what a trial, or a step of it, left for a verifier.
func (a *answer) checkpoint(files *lang.ReaderFiles, t *trial, step string) (c lang.CollectedCheckpoint) {
	c.Source = filepath.Join(t.dir, "steps", step, "artifacts")
	if step == "" {
		c.Source = filepath.Join(t.dir, "artifacts")
	}
	r, err := openRecord(files, t.dir, step)
	switch {
	case err != nil:
	case a.task == nil:
		var only string
		if only, err = r.singleArtifact(); err == nil {
			c.Source = only
		}
	default:
		c.Parts, err = a.parts(r, step)
	}
	if err != nil {
		c.Parts, c.Unusable = nil, t.unusable(step, err)
	}
	return c
}

// parts returns the parts of a record that a verifier gets. The only step of a task without steps is "". A
// shared verifier that judges something else than artifacts has nothing left to judge, and its 0 would not
// be a verdict.
func (a *answer) parts(r *record, step string) ([]lang.Part, error) {
	var declared []taskArtifact
	for _, s := range a.task.Steps {
		if s.Name != step && (step != "" || a.task.Multi) {
			continue
		}
		if declared = s.Artifacts; len(declared) == 0 && s.Verifier.Mode == shared {
			return nil, errors.New("its task declares no artifacts, and the agent's container, which the verifier judged, was not kept")
		}
	}
	return r.parts(declared)
}
