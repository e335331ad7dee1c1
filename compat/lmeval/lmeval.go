// Package lmeval reads the samples that lm-evaluation-harness writes with --log_samples: documents are problems, and
// what each metric gave is its value. The results next to them name the model.
package lmeval

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Benchmark returns the reader of lm-eval's samples.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "lm-eval", Logs: []plan.LogFormat{{Name: "lm-eval", Title: "samples of lm-eval", Holds: holds, Read: read}}}
}

const (
	mostSamples = 1_000_000
	mostMetrics = 1_000
)

func holds(head []byte) bool {
	keys := pyjson.Keys(head)
	return keys["doc_id"] && (keys["arguments"] || keys["doc"])
}

// reader holds the parts of a file that were read.
type reader struct {
	attempts []plan.LogAttempt
	places   map[string]int     // of documents
	seen     map[[2]string]bool // documents and filters
	metrics  []string           // in the order of their first value
	numbers  map[string]bool    // metrics with a number
	none     map[string]int     // values without one
	size     plan.LogSize
}

func read(file *os.File) ([]*plan.Log, error) {
	l := &reader{places: map[string]int{}, seen: map[[2]string]bool{}, numbers: map[string]bool{}, none: map[string]int{}}
	if err := pyjson.Lines(file, l.sample); err != nil {
		return nil, err
	}
	return l.finish(file.Name())
}

// sample reads the line of a document with a filter.
func (l *reader) sample(r *pyjson.Reader) error {
	var id json.RawMessage
	var metrics []string
	filter, values := "none", map[string]json.RawMessage{}
	err := r.Object(func(key string) error {
		switch key {
		case "doc_id":
			return r.Value(&id)
		case "filter":
			return r.Value(&filter)
		case "metrics":
			return r.Value(&metrics)
		case "doc", "target", "arguments", "resps", "filtered_resps", "doc_hash", "prompt_hash", "target_hash":
			return r.Skip()
		}
		var value json.RawMessage
		if err := r.Value(&value); err != nil {
			return err
		}
		if values[key] = value; len(values) > mostMetrics {
			return fmt.Errorf("more than %d metrics", mostMetrics)
		}
		return nil
	})
	if err != nil {
		return err
	}
	name := string(id)
	if strings.HasPrefix(name, `"`) {
		if err := json.Unmarshal(id, &name); err != nil {
			return err
		}
	}
	switch {
	case name == "" || id[0] == '{' || id[0] == '[' || string(id) == "null":
		return errors.New("want a doc_id, a number or a string")
	case l.seen[[2]string{name, filter}]:
		return fmt.Errorf("document %s is duplicated with the filter %s", text.Line(name, 80), text.Line(filter, 80))
	}
	if err := l.size.Names(name, filter); err != nil {
		return err
	}
	l.seen[[2]string{name, filter}] = true
	at, known := l.places[name]
	if !known {
		if at = len(l.attempts); at == mostSamples {
			return fmt.Errorf("more than %d documents", mostSamples)
		}
		l.places[name] = at
		l.attempts = append(l.attempts, plan.LogAttempt{Problem: name, Repeat: 1, Class: verdict.Judged, Values: map[string]float64{}})
	}
	if metrics == nil { // of an earlier version, where they are all that is left
		metrics = slices.Sorted(maps.Keys(values))
	}
	if err := l.size.Values(len(metrics)); err != nil {
		return err
	}
	for _, metric := range metrics {
		if err := l.value(r, at, metric, filter, values[metric]); err != nil {
			return err
		}
	}
	return nil
}

// value notes a value of a document. A filter is part of the metric's name, as in lm-eval's results.
func (l *reader) value(r *pyjson.Reader, at int, metric, filter string, value json.RawMessage) error {
	if filter != "none" {
		metric += "," + filter
	}
	if !slices.Contains(l.metrics, metric) {
		if err := l.size.Names(metric); err != nil {
			return err
		}
		if l.metrics = append(l.metrics, metric); len(l.metrics) > mostMetrics {
			return fmt.Errorf("more than %d metrics", mostMetrics)
		}
	}
	var v any
	if len(value) > 0 && json.Unmarshal(value, &v) != nil {
		return fmt.Errorf("%s is not JSON", text.Line(metric, 80))
	}
	switch v := v.(type) {
	case bool:
		l.attempts[at].Values[metric] = map[bool]float64{true: 1}[v]
		l.numbers[metric] = true
	case float64:
		if !math.IsInf(v, 0) {
			l.attempts[at].Values[metric] = v
			l.numbers[metric] = true
		}
	default:
		l.none[metric]++
	}
	return nil
}

// finish returns what was read of samples_TASK_TIME.jsonl.
func (l *reader) finish(path string) ([]*plan.Log, error) {
	if len(l.attempts) == 0 {
		return nil, errors.New("it has no samples")
	}
	task := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "samples_"), ".jsonl")
	time := ""
	if at := strings.LastIndexByte(task, '_'); at > 0 && strings.Contains(task[at:], "T") && strings.Count(task[at:], "-") >= 4 {
		task, time = task[:at], task[at+1:]
	}
	out := &plan.Log{Attempts: l.attempts, Labels: map[string]string{"task": task}}
	for i := range out.Attempts {
		out.Attempts[i].Problem, out.Attempts[i].Cluster = task+"/"+out.Attempts[i].Problem, task
	}
	for _, metric := range l.metrics {
		if !l.numbers[metric] {
			out.Notes = append(out.Notes, fmt.Sprintf("%s has no numbers of single documents, and is left out", text.Line(metric, 60)))
			continue
		}
		out.Metrics = append(out.Metrics, metric)
		if n := l.none[metric]; n > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s of %s without a number, which have no verdict", text.Count(n, "value"), text.Line(metric, 60)))
		}
	}
	all, err := readResults(filepath.Join(filepath.Dir(path), "results_"+time+".json"))
	if err != nil {
		return nil, err
	}
	if out.Name = all.model; all.model != "" {
		out.Labels["model"] = all.model
	}
	out.Higher = map[string]bool{}
	for _, metric := range out.Metrics {
		name, _, _ := strings.Cut(metric, ",") // before the filter
		if higher, known := all.higher[task][name]; known {
			out.Higher[metric] = higher
		}
	}
	if n := all.samples[task]; n.Effective > len(l.attempts) {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %s that were evaluated are not in the file", n.Effective-len(l.attempts), text.Count(n.Effective, "sample")))
	} else if n.Original > max(n.Effective, len(l.attempts)) {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %s of the task were evaluated", len(l.attempts), text.Count(n.Original, "sample")))
	}
	return []*plan.Log{out}, nil
}

// results holds the parts of results that samples lack.
type results struct {
	model   string
	higher  map[string]map[string]bool // by task and metric, whether higher values are better
	samples map[string]sampleCount     // by task
}

type sampleCount struct{ Original, Effective int }

// readResults reads the results at a path, or nothing if there are none.
func readResults(path string) (results, error) {
	all := results{higher: map[string]map[string]bool{}, samples: map[string]sampleCount{}}
	_, err := pyjson.ReadBeside(path, "results", func(r *pyjson.Reader, key string) error {
		switch key {
		case "model_name":
			return r.Value(&all.model)
		case "higher_is_better":
			return r.Object(func(task string) error {
				var of map[string]any // a group can have null
				err := r.Value(&of)
				for metric, higher := range of {
					if higher, known := higher.(bool); known {
						if all.higher[task] == nil {
							all.higher[task] = map[string]bool{}
						}
						all.higher[task][metric] = higher
					}
				}
				return err
			})
		case "n-samples":
			return r.Object(func(task string) error {
				var n sampleCount
				err := r.Value(&n)
				all.samples[task] = n
				return err
			})
		}
		return r.Skip()
	})
	return all, err
}
