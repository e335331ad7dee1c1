package harbor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// jobReader makes a solution of each trial of a job.
func jobReader() lang.Reader {
	return lang.Reader{
		Owner: "solution", Collect: collect,
		Attribute: lang.AttributeSchema{Name: "harbor_job", Type: lang.TypeText, Path: true,
			Doc: "Directory of a job that Harbor recorded. Each finished trial in it is a solution of the problem whose task it ran, called as the trial, with the labels agent, model, dataset, attempt, cost, tokens and cause. It stands for problem, source and missing."},
	}
}

// collect reads the trials of a job.
func collect(files *lang.ReaderFiles, dir string, problems []lang.Candidate) ([]lang.Collected, diag.List) {
	trials, told := readJob(files, dir)
	answers := newAnswers(files, problems)
	attempts := attemptsOf(trials)
	var all []lang.Collected
	unknown, ambiguous := map[string]int{}, map[string]*answer{}
	for _, t := range trials {
		switch a := answers.of(t.TaskName); {
		case a == nil:
			unknown[t.TaskName]++
		case len(a.names) > 1:
			ambiguous[t.TaskName] = a
		default:
			all = append(all, a.collected(files, t, attempts[t]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ambiguous)) {
		told = append(told, diag.Diagnostic{Code: "ambiguous-task", Summary: "Two problems are one task",
			Detail: fmt.Sprintf("The problems %s are the task %s, so which of them its trials are solutions of is not clear.", strings.Join(ambiguous[name].names, " and "), name),
			Hint:   "a job is graded by one version of a task at a time"})
	}
	if len(unknown) > 0 {
		n := 0
		for _, trials := range unknown {
			n += trials
		}
		told = append(told, warning("unknown-task", "Trials without a problem",
			fmt.Sprintf("No problem here is what %s of %s ran: %s.", count(n, "trial"), filepath.Base(dir), some(slices.Sorted(maps.Keys(unknown)))),
			"a problem whose harbor block reads the task, or one of the task's name, is one"))
	}
	return all, told
}

// readJob reads the finished trials of a job, by name.
func readJob(files *lang.ReaderFiles, dir string) ([]*trial, diag.List) {
	names, err := files.Directories(dir)
	if err != nil {
		return nil, diag.List{{Code: "unreadable-file", Summary: "Unreadable job", Detail: strings.TrimSuffix(err.Error(), ".") + "."}}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !files.Present(filepath.Join(dir, name, "config.json")) && !files.Present(filepath.Join(dir, name, "result.json"))
	})
	if len(names) == 0 {
		return nil, diag.List{{Code: "no-trials", Summary: "Job without trials", Detail: fmt.Sprintf("No directory in %q has a config.json or result.json of a trial.", dir)}}
	}
	var trials []*trial
	var unfinished []string
	var told diag.List
	for _, name := range names {
		t, err := readTrial(files, filepath.Join(dir, name))
		switch {
		case strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
			told = append(told, warning("bad-trial", "Trial left out", fmt.Sprintf("%q cannot be the name of a solution.", name), ""))
		case errors.Is(err, errUnfinished):
			unfinished = append(unfinished, name)
		case err != nil:
			told = append(told, warning("bad-trial", "Trial left out", fmt.Sprintf("%s is left out: %v.", name, err), ""))
		default:
			trials = append(trials, t)
		}
	}
	if len(unfinished) > 0 {
		told = append(told, warning("unfinished-trial", "Trials that are not finished",
			fmt.Sprintf("Of %s, %s left out, because no result says that they ended: %s.", filepath.Base(dir), are(len(unfinished), "trial"), some(unfinished)),
			"they are taken once Harbor has written their result.json"))
	}
	return trials, told
}

// attemptsOf counts the trials of a task by one agent and model, from 1, in the order in
// which they began.
func attemptsOf(trials []*trial) map[*trial]int {
	order := slices.Clone(trials)
	slices.SortStableFunc(order, func(a, b *trial) int { return cmp.Compare(a.StartedAt, b.StartedAt) })
	type maker struct{ task, agent, model string }
	met, number := map[maker]int{}, map[*trial]int{}
	for _, t := range order {
		labels := t.labels()
		who := maker{t.TaskName, labels["agent"], labels["model"]}
		met[who]++
		number[t] = met[who]
	}
	return number
}

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
		digest, _, err := taskDigest(files.FS(a.task.dir))
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

// unusable says why nothing of a trial can be graded, with what Harbor knows about that.
func (t *trial) unusable(step string, err error) string {
	why := "the trial " + filepath.Base(t.dir)
	if step != "" {
		why += ", step " + step + ","
	}
	why = fmt.Sprintf("%s cannot be graded again: %v", why, err)
	for _, e := range t.exceptions() {
		return why + "; Harbor recorded " + e.why()
	}
	return why
}

func warning(code, summary, detail, hint string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: summary, Detail: detail, Hint: hint}
}

// some are names as part of a sentence, which ends when there are many.
func some(names []string) string {
	const shown = 5
	if more := len(names) - shown; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func are(n int, what string) string {
	if n == 1 {
		return count(n, what) + " is"
	}
	return count(n, what) + " are"
}
