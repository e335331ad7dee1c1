package logs

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
	"github.com/fevalgraph/fevalgraph/report/text"
)

// lmEval reads the samples that lm-evaluation-harness writes with --log_samples: documents are problems, with a value of
// each metric. The results next to them name the model.
var lmEval = format{
	name: "lm-eval", title: "samples of lm-eval", holds: hasKeys("doc_id", "arguments|doc"), read: readLMEval,
	notes: []note{withoutNumber},
}

var withoutNumber = note{"none", "value", "of %s without a number, which have no verdict"}

func readLMEval(f *file, in *os.File) error {
	if err := pyjson.Lines(in, f.document); err != nil || len(f.logs) == 0 {
		return err
	}
	l := f.logs[0]
	task := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(in.Name()), "samples_"), ".jsonl")
	time := ""
	if at := strings.LastIndexByte(task, '_'); at > 0 && strings.Contains(task[at:], "T") && strings.Count(task[at:], "-") >= 4 {
		task, time = task[:at], task[at+1:]
	}
	if err := f.below(l, task); err != nil {
		return err
	}
	l.Metrics = slices.DeleteFunc(l.Metrics, func(metric string) bool {
		if f.numbers[metric] > 0 {
			return false
		}
		delete(f.counts, [2]string{"none", metric})
		l.Notes = append(l.Notes, text.Line(metric, 60)+" has no numbers of single documents, and is left out")
		return true
	})
	var higher map[string]any // by metric; not recorded for groups
	var samples struct{ Original, Effective int }
	_, err := pyjson.ReadBeside(filepath.Join(filepath.Dir(in.Name()), "results_"+time+".json"), "results", func(r *pyjson.Reader, key string) error {
		ofTask := func(into any) error {
			return r.Object(func(name string) error {
				if name != task {
					return r.Skip()
				}
				return r.Value(into)
			})
		}
		switch key {
		case "model_name":
			return r.Value(&l.Name)
		case "higher_is_better":
			return ofTask(&higher)
		case "n-samples":
			return ofTask(&samples)
		}
		return r.Skip()
	})
	if l.Name != "" {
		l.Labels["model"] = l.Name
	}
	for _, metric := range l.Metrics {
		name, _, _ := strings.Cut(metric, ",") // before the filter
		if higher, known := higher[name].(bool); known {
			l.Higher[metric] = higher
		}
	}
	if n := len(l.Attempts); samples.Effective > n {
		l.Notes = append(l.Notes, fmt.Sprintf("%d of %s that were evaluated are not in the file", samples.Effective-n, text.Count(samples.Effective, "sample")))
	} else if samples.Original > max(samples.Effective, n) {
		l.Notes = append(l.Notes, fmt.Sprintf("%d of %s of the task were evaluated", n, text.Count(samples.Original, "sample")))
	}
	return err
}

// document reads the line of a document with a filter.
func (f *file) document(r *pyjson.Reader) error {
	var id json.RawMessage
	var metrics []string
	filter, values := "none", map[string]json.RawMessage{}
	if err := r.Object(func(key string) error {
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
		var v json.RawMessage
		if err := r.Value(&v); err != nil {
			return err
		}
		if values[key] = v; len(values) > mostMetrics {
			return fmt.Errorf("more than %d metrics", mostMetrics)
		}
		return nil
	}); err != nil {
		return err
	}
	name, ok := textOrNumber(id)
	if !ok {
		return errors.New("want a doc_id, a number or a string")
	}
	if metrics == nil { // of an earlier version, where they are all that is left
		metrics = slices.Sorted(maps.Keys(values))
	}
	e := entry{problem: name, repeat: 1, part: "filter " + filter}
	if len(metrics) > mostMetrics {
		return fmt.Errorf("more than %d metrics", mostMetrics)
	}
	for _, metric := range metrics {
		v := value{metric, number(values[metric])}
		if filter != "none" { // as in lm-eval's results
			v.metric += "," + filter
		}
		if math.IsNaN(v.number) {
			f.count("none", v.metric)
		}
		e.values = append(e.values, v)
	}
	_, err := f.add(e)
	return err
}

// textOrNumber returns an id, which is a text or a number.
func textOrNumber(id json.RawMessage) (name string, ok bool) {
	if json.Unmarshal(id, &name) == nil && name != "" {
		return name, true
	}
	name = string(id)
	return name, name != "" && (name[0] == '-' || name[0] >= '0' && name[0] <= '9')
}
