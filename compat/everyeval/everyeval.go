// Package everyeval reads records of Every Eval Ever: lines of samples, which name their model, evaluation and score.
// Its aggregates have no samples, and are not read.
package everyeval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Benchmark returns the reader of Every Eval Ever's samples.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "every_eval_ever", Export: export, Logs: []plan.LogFormat{{Name: "every_eval_ever", Title: "samples of Every Eval Ever", Holds: holds, Read: read}}}
}

const (
	mostSamples = 1_000_000
	mostMetrics = 1_000
)

func holds(head []byte) bool {
	keys := pyjson.Keys(head)
	return keys["evaluation_id"] && keys["model_id"] && keys["sample_id"]
}

// attemptKey identifies an attempt of a file.
type attemptKey struct {
	model, problem string
	repeat         int
}

// reader accumulates the content of a file.
type reader struct {
	logs    []*plan.Log
	of      map[string]*plan.Log
	places  map[attemptKey]int // in the attempts of the model's log
	repeats map[[3]string]int  // records without an epoch, of a result of a problem of a model
	seen    map[resultKey]bool // results of attempts
	errors  map[*plan.Log]int  // attempts
	none    map[*plan.Log]int  // records whose score is not a number
	records int
	size    plan.LogSize
	scores  map[string][]float64 // by result
}

type resultKey struct {
	attempt attemptKey
	result  string
}

func read(file *os.File) ([]*plan.Log, error) {
	l := &reader{of: map[string]*plan.Log{}, places: map[attemptKey]int{}, repeats: map[[3]string]int{}, seen: map[resultKey]bool{}, errors: map[*plan.Log]int{}, none: map[*plan.Log]int{}, scores: map[string][]float64{}}
	if err := pyjson.Lines(file, l.record); err != nil {
		return nil, err
	}
	if len(l.logs) == 0 {
		return nil, errors.New("it has no samples")
	}
	all, err := readAggregate(file.Name())
	if err != nil {
		return nil, err
	}
	if all != nil {
		l.judge(all)
	}
	for _, log := range l.logs {
		if n := l.errors[log]; n > 0 {
			log.Notes = append(log.Notes, text.Count(n, "attempt")+" with an error, whose recorded scores count")
		}
		if n := l.none[log]; n > 0 {
			log.Notes = append(log.Notes, text.Count(n, "score")+" that is not a number, which have no verdict")
		}
	}
	return l.logs, nil
}

// record is a line: a sample and one result of its evaluation.
type record struct {
	model, evaluation, sample, result string
	score                             json.RawMessage
	correct                           *bool
	failure                           *string
	epoch                             int // 0 if the record does not have it
}

func (l *reader) record(r *pyjson.Reader) error {
	var c record
	err := r.Object(func(key string) error {
		switch key {
		case "model_id":
			return r.Value(&c.model)
		case "evaluation_name":
			return r.Value(&c.evaluation)
		case "sample_id":
			return r.Value(&c.sample)
		case "evaluation_result_id":
			return r.Value(&c.result)
		case "error":
			return r.Value(&c.failure)
		case "evaluation":
			var e struct {
				Score   json.RawMessage
				Correct *bool `json:"is_correct"`
			}
			err := r.Value(&e)
			c.score, c.correct = e.Score, e.Correct
			return err
		case "metadata":
			var m struct{ Epoch any }
			err := r.Value(&m)
			c.epoch, _ = strconv.Atoi(fmt.Sprint(m.Epoch)) // the schema allows any text
			return err
		}
		return r.Skip()
	})
	switch {
	case err != nil:
		return err
	case c.model == "" || c.evaluation == "" || c.sample == "":
		return errors.New("want model_id, evaluation_name and sample_id")
	case len(c.score) == 0:
		return fmt.Errorf("sample %s: want evaluation.score", text.Line(c.sample, 80))
	}
	if err := l.size.Names(c.model, c.evaluation, c.sample, c.result); err != nil {
		return err
	}
	l.records++
	return l.add(r, &c)
}

// add joins a record with what other results say of the attempt.
func (l *reader) add(r *pyjson.Reader, c *record) error {
	problem := c.evaluation + "/" + c.sample
	if c.epoch < 1 {
		counted := [3]string{c.model, problem, c.result}
		l.repeats[counted]++
		c.epoch = l.repeats[counted]
	}
	key := attemptKey{c.model, problem, c.epoch}
	if l.seen[resultKey{key, c.result}] {
		return fmt.Errorf("%s of epoch %d of sample %s is duplicated", text.Line(c.name("score"), 80), c.epoch, text.Line(c.sample, 80))
	}
	l.seen[resultKey{key, c.result}] = true
	log := l.of[c.model]
	if log == nil {
		log = &plan.Log{Name: c.model, Labels: map[string]string{"model": c.model}, Higher: map[string]bool{}}
		l.of[c.model] = log
		l.logs = append(l.logs, log)
	}
	at, known := l.places[key]
	if !known {
		if len(l.places) == mostSamples {
			return fmt.Errorf("more than %d samples", mostSamples)
		}
		at = len(log.Attempts)
		l.places[key] = at
		log.Attempts = append(log.Attempts, plan.LogAttempt{Problem: problem, Cluster: c.evaluation, Repeat: c.epoch, Class: verdict.Judged, Values: map[string]float64{}})
	}
	a := &log.Attempts[at]
	if c.failure != nil && strings.TrimSpace(*c.failure) != "" && a.Message == "" {
		a.Message = text.Line(text.FirstLine(strings.TrimSpace(*c.failure)), 200)
		l.errors[log]++
	}
	var score float64
	if json.Unmarshal(c.score, &score) != nil || math.IsInf(score, 0) || string(c.score) == "null" {
		l.none[log]++
		return l.value(r, log, nil, c.name("score"), 0)
	}
	l.scores[c.result] = append(l.scores[c.result], score)
	if err := l.value(r, log, a, c.name("score"), score); err != nil || c.correct == nil {
		return err
	}
	log.Higher[c.name("is_correct")] = true
	return l.value(r, log, a, c.name("is_correct"), map[bool]float64{true: 1}[*c.correct])
}

// name returns the name of the metric that a field is. Results of an evaluation have their own.
func (c *record) name(field string) string {
	switch {
	case c.result == "":
		return field
	case field == "score":
		return c.result
	}
	return c.result + "." + field
}

// value notes a value of an attempt, or only that the metric exists if a is nil.
func (l *reader) value(r *pyjson.Reader, log *plan.Log, a *plan.LogAttempt, metric string, value float64) error {
	if !slices.Contains(log.Metrics, metric) {
		if log.Metrics = append(log.Metrics, metric); len(log.Metrics) > mostMetrics {
			return fmt.Errorf("more than %d metrics", mostMetrics)
		}
	}
	if a != nil {
		if err := l.size.Values(1); err != nil {
			return err
		}
		a.Values[metric] = value
	}
	return nil
}
