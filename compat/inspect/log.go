package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// maxSamples bounds the memory that a log takes.
const maxSamples = 1_000_000

// maxMetrics bounds it, too.
const maxMetrics = 1_000

// log is the content of a log, as far as it was read.
type log struct {
	status      string
	invalidated bool
	eval        struct {
		Task    string `json:"task"`
		Model   string `json:"model"`
		Scorers []struct {
			Name string `json:"name"`
		} `json:"scorers"`
		Config struct {
			Reducers []string `json:"epochs_reducer"`
		} `json:"config"`
	}
	results struct {
		Total int `json:"total_samples"`
	}
	hasEval  bool
	attempts []plan.LogAttempt
	seen     map[sampleKey]bool
	metrics  map[string]map[string]bool // of each scorer
	errors   int
	limited  int
	zeros    map[string]int // values that inspect_ai counts as 0, by metric
	lists    map[string]int // values that are lists, by metric
	messages map[string]string
	size     plan.LogSize
}

type sampleKey struct {
	id    string
	epoch int
}

func newLog() *log {
	return &log{seen: map[sampleKey]bool{}, metrics: map[string]map[string]bool{}, zeros: map[string]int{}, lists: map[string]int{}, messages: map[string]string{}}
}

// json reads a log of JSON, or the header of an archive, which is one without samples.
func (l *log) json(r *pyjson.Reader) error {
	member := func(key string) error {
		switch key {
		case "status":
			return r.Value(&l.status)
		case "invalidated":
			return r.Value(&l.invalidated)
		case "eval":
			l.hasEval = true
			return r.Value(&l.eval)
		case "results":
			return r.Value(&l.results)
		case "samples":
			return r.Array(func(int) error { return l.sample(r) })
		}
		return r.Skip()
	}
	if err := r.Only(func() error { return r.Object(member) }); err != nil {
		return err
	}
	if !l.hasEval || l.eval.Task == "" {
		return errors.New("it has no name of the evaluated task (eval.task)")
	}
	return nil
}

// samples reads an array of samples, or of their summaries.
func (l *log) samples(r *pyjson.Reader) error {
	return r.Only(func() error { return r.Array(func(int) error { return l.sample(r) }) })
}

// sample reads a sample or its summary, which has texts instead of an error and of a limit.
func (l *log) sample(r *pyjson.Reader) error {
	var s struct {
		ID     json.RawMessage `json:"id"`
		Epoch  int             `json:"epoch"`
		Scores map[string]struct {
			Value json.RawMessage `json:"value"`
		} `json:"scores"`
		Error json.RawMessage `json:"error"`
		Limit json.RawMessage `json:"limit"`
	}
	if err := r.Value(&s); err != nil {
		return err
	}
	var id string
	switch {
	case json.Unmarshal(s.ID, &id) == nil && id != "":
	case len(s.ID) > 0 && (s.ID[0] == '-' || s.ID[0] >= '0' && s.ID[0] <= '9'):
		id = string(s.ID)
	default:
		return errors.New("want an id, a string or a number")
	}
	if s.Epoch < 1 {
		return fmt.Errorf("sample %s: want an epoch of at least 1", text.Line(id, 80))
	}
	if len(id) > plan.MaxLogName {
		return l.size.Names(id)
	}
	if key := (sampleKey{id, s.Epoch}); l.seen[key] {
		return fmt.Errorf("epoch %d of sample %s is duplicated", s.Epoch, text.Line(id, 80))
	} else if l.seen[key] = true; len(l.seen) > maxSamples {
		return fmt.Errorf("more than %d samples", maxSamples)
	}
	a := plan.LogAttempt{Problem: id, Repeat: s.Epoch, Class: verdict.Judged, Values: map[string]float64{}}
	for scorer, score := range s.Scores {
		if err := l.score(&a, scorer, score.Value); err != nil {
			return fmt.Errorf("sample %s: %w", text.Line(id, 80), err)
		}
	}
	n := 0
	for _, metrics := range l.metrics {
		n += max(1, len(metrics)) // a scorer can have given nothing
	}
	if n > maxMetrics {
		return fmt.Errorf("more than %d metrics", maxMetrics)
	}
	if isSet(s.Limit) {
		l.limited++
	}
	if isSet(s.Error) {
		l.errors++
		a.Message = l.message(s.Error)
		if len(a.Values) == 0 {
			a.Class = verdict.NotJudged
		}
	}
	if err := l.size.Attempt(&a); err != nil {
		return err
	}
	l.attempts = append(l.attempts, a)
	return nil
}

func isSet(value json.RawMessage) bool { return len(value) > 0 && !bytes.Equal(value, []byte("null")) }

// message returns the first line of an error. Equal ones are kept once.
func (l *log) message(value json.RawMessage) string {
	var brief string
	if json.Unmarshal(value, &brief) != nil {
		var whole struct{ Message string }
		if json.Unmarshal(value, &whole) == nil {
			brief = whole.Message
		}
	}
	brief = text.Line(brief, 200)
	if known, ok := l.messages[brief]; ok {
		return known
	}
	l.messages[brief] = brief
	return brief
}

// score notes what a scorer said of an attempt. Of an object each member is a metric.
func (l *log) score(a *plan.LogAttempt, scorer string, value json.RawMessage) error {
	if l.metrics[scorer] == nil {
		if err := l.size.Names(scorer); err != nil {
			return err
		}
		l.metrics[scorer] = map[string]bool{}
	}
	var parts map[string]json.RawMessage
	if len(value) > 0 && value[0] == '{' && json.Unmarshal(value, &parts) == nil {
		for name, part := range parts {
			if err := l.value(a, scorer, scorer+"."+name, part); err != nil {
				return err
			}
		}
		return nil
	}
	return l.value(a, scorer, scorer, value)
}

func (l *log) value(a *plan.LogAttempt, scorer, metric string, value json.RawMessage) error {
	if !l.metrics[scorer][metric] {
		if err := l.size.Names(metric); err != nil {
			return err
		}
		l.metrics[scorer][metric] = true
	}
	v, ok := number(value)
	switch {
	case len(value) > 0 && value[0] == '[':
		a.Values[metric] = 0
		l.lists[metric]++
	case ok:
		a.Values[metric] = v
	case isSet(value): // null was not scored
		l.zeros[metric]++
	}
	return nil
}

// number returns the number that inspect_ai makes of a score by default. Scores without a number count as 0
// there, and as missing here.
func number(value json.RawMessage) (float64, bool) {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return 0, false
	}
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case float64:
		return v, true
	case string:
		switch v {
		case "C":
			return 1, true
		case "P":
			return 0.5, true
		case "I", "N":
			return 0, true
		}
		switch strings.ToLower(v) {
		case "yes", "true":
			return 1, true
		case "no", "false":
			return 0, true
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return 0, false
}

// finish returns what was read, with notes about it.
func (l *log) finish() (*plan.Log, error) {
	if len(l.attempts) == 0 {
		return nil, errors.New("it has no samples; inspect_ai writes none with --no-log-samples")
	}
	for range l.attempts { // each problem has the task's name
		if err := l.size.Names(l.eval.Task, l.eval.Model); err != nil {
			return nil, err
		}
	}
	out := &plan.Log{Name: cmp.Or(l.eval.Model, l.eval.Task), Labels: map[string]string{"task": l.eval.Task}, Attempts: l.attempts}
	if l.eval.Model != "" {
		out.Labels["model"] = l.eval.Model
	}
	for i := range l.attempts { // the task is known only by now: members of JSON have no order
		l.attempts[i].Problem, l.attempts[i].Cluster = l.eval.Task+"/"+l.attempts[i].Problem, l.eval.Task
	}
	var scorers []string
	for _, s := range l.eval.Scorers {
		scorers = append(scorers, s.Name)
	}
	for _, scorer := range append(scorers, slices.Sorted(maps.Keys(l.metrics))...) {
		for _, metric := range slices.Sorted(maps.Keys(l.metrics[scorer])) {
			if !slices.Contains(out.Metrics, metric) {
				out.Metrics = append(out.Metrics, metric)
			}
		}
	}
	if l.status != "success" {
		out.Notes = append(out.Notes, fmt.Sprintf("the run did not end well: its status is %s", text.Line(cmp.Or(l.status, "unknown"), 40)))
	}
	if l.invalidated {
		out.Notes = append(out.Notes, "samples were marked as invalid; inspect_ai counts them, and so does this")
	}
	if missing := l.results.Total - len(l.attempts); missing > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %s are not in the log", missing, text.Count(l.results.Total, "sample")))
	}
	if l.errors > 0 {
		out.Notes = append(out.Notes, text.Count(l.errors, "attempt")+" ended by an error")
	}
	if l.limited > 0 {
		out.Notes = append(out.Notes, text.Count(l.limited, "attempt")+" ended by a limit; what was scored counts")
	}
	for _, metric := range slices.Sorted(maps.Keys(l.lists)) {
		out.Notes = append(out.Notes, fmt.Sprintf("%s of %s that are lists, counted as 0 as in inspect_ai", text.Count(l.lists[metric], "score"), text.Line(metric, 60)))
	}
	for _, metric := range slices.Sorted(maps.Keys(l.zeros)) {
		out.Notes = append(out.Notes, fmt.Sprintf("%s of %s without a number: inspect_ai counts 0; here they have no verdict", text.Count(l.zeros[metric], "score"), text.Line(metric, 60)))
	}
	if r := l.eval.Config.Reducers; len(r) > 0 && !slices.Equal(r, []string{"mean"}) {
		out.Notes = append(out.Notes, fmt.Sprintf("inspect_ai reduces epochs by %s; here a sample is worth their mean", text.Line(strings.Join(r, ", "), 60)))
	}
	return out, nil
}
