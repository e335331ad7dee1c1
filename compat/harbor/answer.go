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
)

// answers are the problems of a configuration.
type answers struct {
	tasks  map[string]*answer // by the name of the task that a problem is
	others map[string]*answer // by their own names
}

// of is the problem whose task has a name or, for problems of other kinds, that is called
// as the task without its organisation; nil is none.
func (a *answers) of(task string) *answer {
	if one := a.tasks[task]; one != nil {
		return one
	}
	return a.others[path.Base(task)]
}

// answer is what a trial needs to know of the problem that it answers.
type answer struct {
	problem int
	names   []string // of the problems that are its task; there has to be one
	reward  string   // the name of the one that is a score
	steps   []string // the names of its checkpoints
	task    *task    // nil of a problem that is no task of Harbor
	digest  *string  // of the task's directory; nil is not computed
}

// version is the digest of the task as it is here; "" is not known. It is computed when a trial
// is there to be compared, as all files of the task are read for it.
func (a *answer) version(files *lang.ReaderFiles) string {
	if a.digest == nil {
		digest, err := taskDigest(files.FS(a.task.dir))
		if err != nil {
			digest = "" // what cannot be read is a mistake of the problem, or no part of it
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
		one.task = openTask(files, p.Attributes["task"]) // whose mistakes are the problem's
		if before := all.tasks[one.task.Name]; before != nil {
			one.names = append(before.names, p.Name)
		}
		all.tasks[one.task.Name] = one
	}
	return all
}

// collected is a trial as a solution.
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
			c.Checkpoints[one.Name] = lang.CollectedCheckpoint{Source: t.dir, Unusable: t.unusable(one.Name, errors.New("it was never begun"))}
		}
	}
	return c
}

// mismatch says why the steps of a trial are not those of the problem. A trial that ended
// early has the first of them.
func (a *answer) mismatch(t *trial) error {
	if len(t.Steps) == 0 {
		if len(a.steps) > 1 && !t.interrupted() {
			return fmt.Errorf("it has no steps, and the problem has %d", len(a.steps))
		}
		return nil
	}
	var names []string
	for _, s := range t.Steps {
		names = append(names, s.Name)
	}
	if len(names) > len(a.steps) || !slices.Equal(names, a.steps[:len(names)]) {
		return fmt.Errorf("its steps are %s, and those of the problem are %s", some(names), some(a.steps))
	}
	return nil
}

// checkpoint is what a trial, or a step of one, left for a verifier.
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
		if only, err = r.only(); err == nil {
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

// parts are what a verifier gets of a record; the step "" is the only one of a task without
// steps. Where a shared verifier judges what is no artifact, it has nothing to judge any
// more, and its 0 would be no verdict.
func (a *answer) parts(r *record, step string) ([]lang.Part, error) {
	var declared []taskArtifact
	for _, s := range a.task.Steps {
		if s.Name != step && (step != "" || a.task.Multi) {
			continue
		}
		if declared = s.Artifacts; len(declared) == 0 && s.Verifier.Mode == shared {
			return nil, errors.New("its task declares no artifacts, and the verifier judged the agent's own container, which was not kept")
		}
	}
	return r.parts(declared)
}
