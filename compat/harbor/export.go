package harbor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// ownFile contains the parts of a result for which Harbor has no field.
const ownFile = "fevalgraph.json"

// export writes results as a job of Harbor: in the directory itself when they are of one
// backend and one repeat, else in a directory for each of these.
func export(ctx context.Context, e plan.Export) error {
	cellOf := e.Cells()
	jobs := map[string]*job{}
	for i := range e.Results.Cells {
		rc := &e.Results.Cells[i]
		cell := cellOf(rc)
		if cell == nil {
			continue
		}
		name := rc.Backend
		if rc.Repeat > 1 {
			name += "#" + strconv.Itoa(rc.Repeat)
		}
		if jobs[name] == nil {
			jobs[name] = &job{e: &e, name: name, stats: jobStats{Evals: map[string]*evalStat{}}, named: map[string]bool{}, digests: map[string]string{}}
		}
		jobs[name].cells = append(jobs[name].cells, exported{cell, rc})
	}
	return outdir.Export(e.Dir, "harbor "+e.Suite, func(out *outdir.Dir) error {
		for _, name := range slices.Sorted(maps.Keys(jobs)) {
			j := jobs[name]
			j.out = out
			if j.dir = e.Dir; len(jobs) > 1 {
				j.dir = filepath.Join(e.Dir, strings.ReplaceAll(name, "/", "_"))
			}
			if err := j.write(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// exported is a cell and its result.
type exported struct {
	cell   *plan.Cell
	result *report.Cell
}

// job is a job that is written.
type job struct {
	e     *plan.Export
	name  string // of the backend
	dir   string
	out   *outdir.Dir // has dir
	cells []exported

	id             string
	config         jobConfig
	locks          []json.RawMessage
	stats          jobStats
	started, ended string
	named          map[string]bool   // trials
	digests        map[string]string // of tasks, by directory; "" means unknown
	sources        []string          // jobs that they were recorded in
	skipped        int               // cells without a result
}

func (j *job) write(ctx context.Context) error {
	keys := []string{"job", j.e.Suite, j.name}
	for _, one := range j.cells {
		keys = append(keys, j.key(one.cell))
	}
	j.id = uuid(keys...)
	err := j.owned(j.dir)
	if err == nil {
		err = j.put(struct {
			Schema int    `json:"schema"`
			Suite  string `json:"suite"`
		}{1, j.e.Suite}, ownFile)
	}
	if err != nil {
		return err
	}
	for _, one := range j.cells {
		if err := j.trial(ctx, one); err != nil {
			return fmt.Errorf("the trial of %s on %s: %w", one.result.Solution, one.result.Problem, err)
		}
	}
	j.config.Name = filepath.Base(j.dir)
	for _, dir := range j.sources {
		j.config.Sources = append(j.config.Sources, sourceJob{Action: "regrade", Type: "local", Path: dir})
	}
	j.stats.mean()
	j.stats.Pending = j.skipped
	started, ended := cmp.Or(j.started, noTime), cmp.Or(j.ended, noTime)
	lock := struct {
		Schema     int               `json:"schema_version"`
		Created    string            `json:"created_at"`
		Harbor     struct{}          `json:"harbor"`
		Concurrent int               `json:"n_concurrent_trials"`
		Retry      struct{}          `json:"retry"`
		Trials     []json.RawMessage `json:"trials"`
	}{Schema: 3, Created: started, Concurrent: 1, Trials: append([]json.RawMessage{}, j.locks...)}
	if err := j.put(j.config, "config.json"); err != nil {
		return err
	}
	if err := j.put(lock, "lock.json"); err != nil {
		return err
	}
	return j.put(jobResult{ID: j.id, StartedAt: started, UpdatedAt: ended, FinishedAt: ended, Trials: len(j.cells), Stats: j.stats}, "result.json")
}

// owned returns an error if a directory has a job or a trial that was not exported: a record is never
// overwritten.
func (j *job) owned(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, "result.json")); err != nil {
		return nil // none, or what writing reports
	}
	if _, err := os.Lstat(filepath.Join(dir, ownFile)); err != nil {
		return fmt.Errorf("%s has a result.json but no %s, so it was recorded by Harbor, not exported; export to another directory", dir, ownFile)
	}
	return nil
}

// put writes a file of JSON.
func (j *job) put(content any, name ...string) error {
	text, err := encode(content)
	if err != nil {
		return err
	}
	return j.out.Write(filepath.Join(append([]string{j.dir}, name...)...), text)
}

// noTime is when a trial began that nothing dates: no record of a verdict has its time.
const noTime = "1970-01-01T00:00:00Z"

// trial writes the files of a trial.
func (j *job) trial(ctx context.Context, one exported) error {
	if slices.ContainsFunc(one.result.Listed(), func(c report.Checkpoint) bool {
		return c.Class == verdict.NotRun || c.Class == verdict.ImportedVerdict
	}) {
		j.skipped++
		return nil
	}
	source, err := j.source(one.cell)
	if err != nil {
		return err
	}
	t, err := j.result(ctx, one, source)
	if err != nil {
		return err
	}
	if len(t.Steps) == 0 {
		err = j.verified(ctx, t.TrialName, "", &t.judgement)
	}
	for i := 0; i < len(t.Steps) && err == nil; i++ {
		err = j.verified(ctx, t.TrialName, t.Steps[i].Name, &t.Steps[i].judgement)
	}
	if err == nil {
		err = j.lock(one, t)
	}
	if err == nil {
		err = j.put(t.Config, t.TrialName, "config.json")
	}
	if err == nil {
		err = j.put(j.own(one), t.TrialName, ownFile)
	}
	if err != nil {
		return err
	}
	j.count(t)
	return j.put(t, t.TrialName, "result.json") // last: a trial without one is not finished
}

// source returns the trial that a solution was recorded as, or nil.
func (j *job) source(cell *plan.Cell) (*trial, error) {
	r := cell.Solution.Recorded
	if r == nil || r.By != recorder {
		return nil, nil
	}
	path := filepath.Join(r.Path, "result.json")
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &trial{dir: r.Path}
	if err := decodeRecord(file, t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if dir := filepath.Dir(r.Path); !slices.Contains(j.sources, dir) {
		j.sources = append(j.sources, dir)
	}
	return t, nil
}

// result returns the result of a trial.
func (j *job) result(ctx context.Context, one exported, source *trial) (*trialResult, error) {
	cell, rc := one.cell, one.result
	key := j.key(cell)
	t := &trialResult{ID: uuid("trial", rc.Problem, rc.Solution, rc.Backend, strconv.Itoa(rc.Repeat), key), TaskName: rc.Problem, Checksum: key,
		StartedAt: noTime, AgentInfo: encoded(agentInfo{Name: rc.Solution, Version: "unknown"})}
	task := taskReference{Path: cmp.Or(cell.Problem.ReadFrom, rc.Problem)}
	t.TaskID, t.Config.Task = encoded(task), encoded(task)
	t.TrialName = path.Base(rc.Problem)
	if runes := []rune(t.TrialName); len(runes) > 32 {
		t.TrialName = string(runes[:32])
	}
	t.TrialName = fileName(t.TrialName) + "__" + t.ID[:7]
	if source != nil {
		t.copySource(source, rc.Solution)
	}
	for n := 7; j.named[t.TrialName] || !filepath.IsLocal(t.TrialName); n++ {
		t.TrialName += "_" + t.ID[n:n+1]
	}
	j.named[t.TrialName] = true
	if err := j.owned(filepath.Join(j.dir, t.TrialName)); err != nil {
		return nil, err
	}
	t.URI = (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(j.dir, t.TrialName))}).String()
	t.Config.Name, t.Config.Dir, t.Config.JobID = t.TrialName, j.dir, j.id
	var who agentInfo
	_ = json.Unmarshal(t.AgentInfo, &who) // what is not there is not known
	t.Config.Agent.Name = who.Name
	if who.Model != nil {
		t.Config.Agent.Model = who.Model.Name
	}
	return t, j.judge(ctx, one, source, t)
}

// copySource fills in what a trial that was graded again has from its source.
func (t *trialResult) copySource(source *trial, name string) {
	t.TaskName, t.TrialName = source.TaskName, name
	for to, from := range map[*json.RawMessage]json.RawMessage{&t.TaskID: source.TaskID, &t.AgentInfo: source.AgentInfo} {
		if len(from) > 0 && string(from) != "null" { // Harbor reads no trial without these
			*to = from
		}
	}
	t.StartedAt = cmp.Or(source.StartedAt, noTime)
	if source.Source != "" {
		t.Source = &source.Source
	}
	var config struct {
		Task json.RawMessage `json:"task"`
	}
	if json.Unmarshal(source.Config, &config) == nil && len(config.Task) > 0 {
		t.Config.Task = config.Task
	}
	t.Config.Source = &sourceTrial{Action: "regrade", Type: "local", ID: source.ID, Path: source.dir}
	t.AgentResult = source.AgentResult
}

// encoded returns the JSON of a value that can always be encoded.
func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// fileName returns a name as a file name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
}

// key hashes the keys of a cell's verdicts.
func (j *job) key(cell *plan.Cell) string {
	h := sha256.New()
	for i := range cell.Checkpoints {
		key := j.e.Run.Status(cell.Checkpoints[i].Aggregate).Key
		h.Write(key[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// own returns the parts of a result for which Harbor has no field.
func (j *job) own(one exported) any {
	type checkpoint struct {
		Name    string        `json:"name"`
		Key     string        `json:"key"`
		Class   verdict.Class `json:"class"`
		Passed  bool          `json:"passed"`
		Policy  string        `json:"policy"`
		Score   *float64      `json:"score"`
		Message *string       `json:"message"`
	}
	var all []checkpoint
	for _, c := range one.result.Listed() {
		key := ""
		for _, cc := range one.cell.Checkpoints {
			if cc.Checkpoint.Name == c.Name {
				key = j.e.Run.Status(cc.Aggregate).Key.String()
			}
		}
		all = append(all, checkpoint{c.Name, key, c.Class, c.Passed, c.Policy, c.Score, c.Message})
	}
	return struct {
		Schema      int              `json:"schema"`
		Problem     string           `json:"problem"`
		Solution    string           `json:"solution"`
		Backend     string           `json:"backend"`
		Repeat      int              `json:"repeat"`
		Key         string           `json:"key"`
		Status      verdict.Status   `json:"status"`
		Recorded    *report.Recorded `json:"recorded"`
		Checkpoints []checkpoint     `json:"checkpoints"`
	}{1, one.result.Problem, one.result.Solution, one.result.Backend, one.result.Repeat, j.key(one.cell), one.result.Status, one.result.Recorded, all}
}

// count adds a trial to what the job has of all.
func (j *job) count(t *trialResult) {
	if j.started == "" || t.StartedAt < j.started {
		j.started = t.StartedAt
	}
	j.ended = max(j.ended, t.FinishedAt)
	key := t.Config.Agent.Name
	if t.Config.Agent.Model != "" {
		key += "__" + t.Config.Agent.Model
	}
	set := "adhoc"
	if t.Source != nil {
		set = *t.Source
	}
	j.stats.add(key+"__"+set, t)
	var task taskReference
	if json.Unmarshal(t.Config.Task, &task) == nil && task.Path != "" && !slices.ContainsFunc(j.config.Tasks, func(other taskReference) bool { return other.Path == task.Path }) {
		j.config.Tasks = append(j.config.Tasks, taskReference{Path: task.Path})
	}
	if !slices.Contains(j.config.Agents, t.Config.Agent) {
		j.config.Agents = append(j.config.Agents, t.Config.Agent)
	}
}
