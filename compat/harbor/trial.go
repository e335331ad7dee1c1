package harbor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// recorder is Harbor's name in records.
const recorder = "harbor"

// trial is the content of a trial's result.json.
type trial struct {
	dir string // absolute

	Schema     *int            `json:"schema_version"` // nil is 1
	ID         string          `json:"id"`
	TaskName   string          `json:"task_name"`
	TaskID     json.RawMessage `json:"task_id"`
	Checksum   string          `json:"task_checksum"`
	Source     string          `json:"source"` // the data set
	Config     json.RawMessage `json:"config"`
	AgentInfo  json.RawMessage `json:"agent_info"`
	StartedAt  string          `json:"started_at"`
	FinishedAt string          `json:"finished_at"`
	Ran        *span           `json:"agent_execution"` // of a task without steps
	Valid      *bool           `json:"reward_valid"`    // nil where Harbor is older than 0.26
	outcome
	Steps []stepResult `json:"step_results"`
}

// stepResult is the result of a step of a trial.
type stepResult struct {
	Name string `json:"step_name"`
	outcome
}

// outcome holds the fields that a trial and a step share.
type outcome struct {
	AgentResult json.RawMessage `json:"agent_result"`
	Verifier    *struct {
		Rewards map[string]*float64 `json:"rewards"` // null means none
	} `json:"verifier_result"`
	ended
}

// exception is why something ended early.
type exception struct {
	Type       string `json:"exception_type"`
	Message    string `json:"exception_message"`
	Traceback  string `json:"exception_traceback"`
	OccurredAt string `json:"occurred_at"`
	// What the trial's configuration, and Harbor when it wrote the trial, had for such exceptions.
	Override *policy `json:"policy_override,omitempty"`
	Policy   *policy `json:"policy,omitempty"`
}

// policy describes how Harbor treats an exception. A nil field is not recorded.
type policy struct {
	ValidReward *bool `json:"has_valid_reward,omitempty"`
}

// valid reports whether Harbor accepts a reward that was recorded next to e.
func (e *exception) valid() bool {
	for _, p := range []*policy{e.Override, e.Policy} {
		if p != nil && p.ValidReward != nil {
			return *p.ValidReward
		}
	}
	return failureOf(e.Type).valid
}

// agentInfo names the agent of a trial.
type agentInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Model   *struct {
		Name     string `json:"name"`
		Provider string `json:"provider"`
	} `json:"model_info"`
}

// usage is the cost of an agent's run. A nil field is unknown.
type usage struct {
	Input  *float64 `json:"n_input_tokens"` // with cached ones
	Output *float64 `json:"n_output_tokens"`
	Cost   *float64 `json:"cost_usd"`
}

// errUnfinished is the error of a trial that is being written, or was given up.
var errUnfinished = errors.New("it is not finished")

// trialSchema is the version of result.json, also where none is said.
const trialSchema = 1

// readTrial reads the result of a trial.
func readTrial(files *lang.ReaderFiles, dir string) (*trial, error) {
	t := &trial{dir: dir}
	switch err := readRecord(files, filepath.Join(dir, "result.json"), t); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errUnfinished
	case err != nil:
		return nil, fmt.Errorf("its result.json: %w", err)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *trial) agent() agentInfo {
	var who agentInfo
	_ = json.Unmarshal(t.AgentInfo, &who) // what is not there is not known
	return who
}

// used returns the cost of all steps together.
func (t *trial) used() usage {
	all := []json.RawMessage{t.AgentResult}
	for _, s := range t.Steps {
		all = append(all, s.AgentResult)
	}
	var sum usage
	for _, text := range all {
		var one usage
		if json.Unmarshal(text, &one) != nil {
			continue
		}
		sum.Input, sum.Output, sum.Cost = added(sum.Input, one.Input), added(sum.Output, one.Output), added(sum.Cost, one.Cost)
	}
	return sum
}

func added(a, b *float64) *float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a + *b
	return &sum
}

func (t *trial) exceptions() []*exception { return exceptions(&t.ended, t.Steps) }

// cause returns the class of the first exception, or "".
func (t *trial) cause() string {
	for _, e := range t.exceptions() {
		return e.Type
	}
	return ""
}

// neverRan reports whether the machine failed before the agent of a task without steps began.
// A trial that was graded again has no time of its agent, and no such end.
func (t *trial) neverRan() bool {
	return len(t.Steps) == 0 && t.Ran == nil && t.Verifier == nil && t.Exception != nil && failureOf(t.Exception.Type).group == sandboxFailed
}

// valid reports whether Harbor takes the rewards for the solution's, and not for the end of a
// machine or of a verifier.
func (t *trial) valid() bool {
	taken := !slices.ContainsFunc(t.exceptions(), func(e *exception) bool { return !e.valid() })
	if t.Valid != nil {
		taken = *t.Valid
	}
	if !taken || t.Verifier == nil {
		return false
	}
	for _, reward := range t.Verifier.Rewards {
		if reward != nil {
			return true
		}
	}
	return false
}

// interrupted reports whether something other than its solution ended a trial. What it did not reach is then
// no evidence about the solution.
func (t *trial) interrupted() bool {
	return slices.ContainsFunc(t.exceptions(), func(e *exception) bool { return !failureOf(e.Type).own })
}

// lost returns the class of a trial without a valid reward: NotJudged unless its agent or its solution ended it before
// there was one.
func (t *trial) lost() verdict.Class {
	all := t.exceptions()
	if len(all) == 0 || t.Verifier != nil && len(t.Verifier.Rewards) > 0 {
		return verdict.NotJudged
	}
	class := verdict.NoScore
	for _, e := range all {
		f := failureOf(e.Type)
		switch {
		case e.Type == verifierTimeout, e.Type == agentTimeout && e.valid():
			class = verdict.SessionTimeout
		case !e.valid(), !f.own && f.group != agentFailed:
			return verdict.NotJudged
		}
	}
	return class
}

// reward returns the reward of a name, or nil.
func (o *outcome) reward(name string) *float64 {
	if o.Verifier == nil {
		return nil
	}
	return o.Verifier.Rewards[name]
}

// maxWhy bounds what is shown of an exception's message, in characters.
const maxWhy = 300

// why formats an exception as part of a sentence.
func (e *exception) why() string {
	line, _, _ := strings.Cut(e.Message, "\n")
	if runes := []rune(line); len(runes) > maxWhy {
		line = string(runes[:maxWhy]) + "…"
	}
	return fmt.Sprintf("%s (%s): %s", e.Type, failureOf(e.Type).group, line)
}

// labels returns the labels of a trial, except for attempt.
func (t *trial) labels() map[string]string {
	who, took := t.agent(), t.used()
	model := ""
	if who.Model != nil {
		model = who.Model.Name
		if who.Model.Provider != "" {
			model = who.Model.Provider + "/" + model
		}
	}
	return map[string]string{
		"agent": who.Name, "model": model, "dataset": cmp.Or(t.Source, "adhoc"), "cause": t.cause(),
		"cost": number(took.Cost), "tokens": number(added(took.Input, took.Output)),
	}
}

// number formats a number; nil is "".
func number(f *float64) string {
	if f == nil || math.IsInf(*f, 0) { // a sum can overflow
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// step returns the result of a step, or nil if the trial never began it.
func (t *trial) step(name string) *stepResult {
	for i := range t.Steps {
		if t.Steps[i].Name == name {
			return &t.Steps[i]
		}
	}
	return nil
}

// version returns the digest of the task that a trial ran, or "" if it is unknown: older versions of Harbor
// wrote no locks.
func (t *trial) version(files *lang.ReaderFiles) string {
	var lock struct {
		Task taskLock `json:"task"`
	}
	if readRecord(files, filepath.Join(t.dir, "lock.json"), &lock) != nil || !isDigest(lock.Task.Digest) {
		return ""
	}
	return lock.Task.Digest
}

// recorded returns what Harbor recorded about a trial. A task without steps has the trial itself as its only
// step.
func (t *trial) recorded(files *lang.ReaderFiles, a *answer) lang.Recorded {
	r := lang.Recorded{By: recorder, Path: t.dir, Cause: t.cause(), Valid: t.valid(), Score: t.reward(a.reward), Comparable: a.task != nil, Last: a.task != nil && a.task.Last}
	if r.Version = t.version(files); a.task != nil && r.Version != "" {
		if here := a.version(files); here != r.Version {
			r.VersionHere = here
		}
	}
	for _, name := range a.steps {
		one := lang.RecordedCheckpoint{Name: name}
		switch s := t.step(name); {
		case s != nil:
			one.Reached, one.Score = true, s.reward(a.reward)
			if s.Exception != nil {
				one.Cause = s.Exception.Type
			}
		case len(a.steps) == 1 && len(t.Steps) == 0:
			one.Reached, one.Score, one.Cause = true, r.Score, r.Cause
		}
		r.Checkpoints = append(r.Checkpoints, one)
	}
	return r
}
