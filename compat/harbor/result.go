package harbor

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// The files of a job that Harbor's own programs read. Members that have their defaults are
// left out of configurations and locks, as Harbor leaves them out.

// jobConfig is config.json of a job.
type jobConfig struct {
	Name    string          `json:"job_name"`
	Tasks   []taskReference `json:"tasks"`
	Agents  []agentName     `json:"agents"`
	Sources []sourceJob     `json:"source_jobs,omitempty"`
}

type taskReference struct {
	Path   string  `json:"path"`
	Source *string `json:"source,omitempty"`
}

type agentName struct {
	Name  string `json:"name"`
	Model string `json:"model_name,omitempty"`
}

type sourceJob struct {
	Action string `json:"action"`
	Type   string `json:"type"`
	Path   string `json:"path"`
}

// trialConfig is config.json of a trial.
type trialConfig struct {
	Task   json.RawMessage `json:"task"`
	Name   string          `json:"trial_name"`
	Dir    string          `json:"trials_dir"`
	Agent  agentName       `json:"agent"`
	JobID  string          `json:"job_id"`
	Source *sourceTrial    `json:"source_trial,omitempty"`
}

type sourceTrial struct {
	Action string `json:"action"`
	Type   string `json:"type"`
	ID     string `json:"trial_id,omitempty"`
	Path   string `json:"path"`
}

// trialResult is result.json of a trial.
type trialResult struct {
	ID         string          `json:"id"`
	TaskName   string          `json:"task_name"`
	TrialName  string          `json:"trial_name"`
	URI        string          `json:"trial_uri"`
	TaskID     json.RawMessage `json:"task_id"`
	Source     *string         `json:"source"`
	Checksum   string          `json:"task_checksum"`
	Config     trialConfig     `json:"config"`
	AgentInfo  json.RawMessage `json:"agent_info"`
	judgement                  // of a task without steps; else of all steps together
	StartedAt  string          `json:"started_at"`
	FinishedAt string          `json:"finished_at"`
	Steps      []stepJudgement `json:"step_results"`
}

// judgement is the judgement on a trial or a step.
type judgement struct {
	AgentResult json.RawMessage `json:"agent_result"`
	Verifier    *rewards        `json:"verifier_result"`
	ended
	Verified *span `json:"verifier"`

	left plan.VerifierOutput
}

type stepJudgement struct {
	Name string `json:"step_name"`
	judgement
}

type rewards struct {
	Rewards map[string]float64 `json:"rewards"`
}

type span struct {
	StartedAt  string `json:"started_at"`
	FinishedAt string `json:"finished_at"`
}

// jobResult is result.json of a job.
type jobResult struct {
	ID         string   `json:"id"`
	StartedAt  string   `json:"started_at"`
	UpdatedAt  string   `json:"updated_at"`
	FinishedAt string   `json:"finished_at"`
	Trials     int      `json:"n_total_trials"`
	Stats      jobStats `json:"stats"`
}

type jobStats struct {
	Completed int                  `json:"n_completed_trials"`
	Errored   int                  `json:"n_errored_trials"`
	Running   int                  `json:"n_running_trials"`
	Pending   int                  `json:"n_pending_trials"`
	Cancelled int                  `json:"n_cancelled_trials"`
	Retries   int                  `json:"n_retries"`
	Evals     map[string]*evalStat `json:"evals"`
}

// evalStat sums up the trials of one agent and model on one data set.
type evalStat struct {
	Trials     int                            `json:"n_trials"`
	Errors     int                            `json:"n_errors"`
	Metrics    []map[string]float64           `json:"metrics"`
	PassAtK    map[string]float64             `json:"pass_at_k"`
	Rewards    map[string]map[string][]string `json:"reward_stats"`
	Exceptions map[string][]string            `json:"exception_stats"`

	sums map[string]float64
	all  int
}

// encode writes JSON as Harbor does: with four spaces and without escapes for HTML.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding a file of the job: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// add counts a trial.
func (s *jobStats) add(key string, t *trialResult) {
	s.Completed++
	of := s.Evals[key]
	if of == nil {
		of = &evalStat{PassAtK: map[string]float64{}, Rewards: map[string]map[string][]string{}, Exceptions: map[string][]string{}, sums: map[string]float64{}}
		s.Evals[key] = of
	}
	of.all++
	kinds := map[string]bool{}
	for _, e := range exceptions(&t.ended, t.Steps) {
		kinds[e.Type] = true
	}
	for kind := range kinds {
		of.Exceptions[kind] = append(of.Exceptions[kind], t.TrialName)
	}
	if len(kinds) > 0 {
		of.Errors++
		s.Errored++
	}
	if t.Verifier == nil {
		return
	}
	of.Trials++
	for name, value := range t.Verifier.Rewards {
		if of.Rewards[name] == nil {
			of.Rewards[name] = map[string][]string{}
		}
		text := pyjson.Float(value)
		of.Rewards[name][text] = append(of.Rewards[name][text], t.TrialName)
		of.sums[name] = statistics.Saturated(of.sums[name] + value)
	}
}

// mean fills in the metrics: a trial without a reward counts as 0.
func (s *jobStats) mean() {
	for _, of := range s.Evals {
		metrics := map[string]float64{}
		for name, sum := range of.sums {
			if len(of.sums) == 1 {
				name = "mean"
			}
			metrics[name] = sum / float64(of.all)
		}
		if len(metrics) == 0 {
			metrics["mean"] = 0
		}
		of.Metrics = []map[string]float64{metrics}
	}
}
