package logs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// everyEval reads lines of samples, which name their model, evaluation and score, and no aggregates, which have no
// samples.
var everyEval = format{
	name: "every_eval_ever", title: "samples of Every Eval Ever", holds: hasKeys("evaluation_id", "model_id", "sample_id"), read: readEveryEval,
	notes: []note{
		{"error", "attempt", "with an error, whose recorded scores count"},
		{"none", "score", "that is not a number, which have no verdict"},
	},
}

// record holds a sample and one result of its evaluation.
type record struct {
	Model      string  `json:"model_id"`
	Evaluation string  `json:"evaluation_name"`
	Sample     string  `json:"sample_id"`
	Result     string  `json:"evaluation_result_id"`
	Error      *string `json:"error"`
	Values     struct {
		Score   json.RawMessage `json:"score"`
		Correct *bool           `json:"is_correct"`
	} `json:"evaluation"`
	Metadata struct {
		Epoch json.RawMessage `json:"epoch"` // the schema allows any text
	} `json:"metadata"`
}

func readEveryEval(f *file, in *os.File) error {
	scores, records := map[string][]float64{}, 0 // by result
	if err := pyjson.Lines(in, func(r *pyjson.Reader) error {
		var c record
		if err := r.Value(&c); err != nil {
			return err
		}
		switch {
		case c.Model == "" || c.Evaluation == "" || c.Sample == "":
			return errors.New("want model_id, evaluation_name and sample_id")
		case len(c.Values.Score) == 0:
			return fmt.Errorf("sample %s: want evaluation.score", text.Line(c.Sample, 80))
		}
		records++
		l, err := f.log([]string{"model"}, []string{c.Model})
		if err != nil {
			return err
		}
		e := entry{log: l, problem: c.Sample, below: c.Evaluation, part: strings.TrimSpace("result " + c.Result), values: []value{{c.name("score"), number(c.Values.Score)}}}
		e.repeat, _ = strconv.Atoi(strings.Trim(string(c.Metadata.Epoch), `"`))
		e.repeat = max(0, e.repeat)
		switch score := e.values[0].number; {
		case math.IsNaN(score):
			f.count("none", "")
		case c.Values.Correct != nil:
			e.values = append(e.values, value{c.name("is_correct"), truth(*c.Values.Correct)})
			l.Higher[c.name("is_correct")] = true
			fallthrough
		default:
			scores[c.Result] = append(scores[c.Result], score)
		}
		a, err := f.add(e)
		if err == nil && c.Error != nil && strings.TrimSpace(*c.Error) != "" && a.Message == "" {
			a.Message = text.Line(text.FirstLine(strings.TrimSpace(*c.Error)), 200)
			f.count("error", "")
			err = f.names(a.Message)
		}
		return err
	}); err != nil || len(f.logs) == 0 {
		return err
	}
	return f.readAggregate(in.Name(), scores, records)
}

// name returns the name of the metric that a field is. Results of an evaluation have their own.
func (c *record) name(field string) string {
	switch {
	case c.Result == "":
		return field
	case field == "score":
		return c.Result
	}
	return c.Result + "." + field
}

// truth returns 1 for true.
func truth(v bool) float64 { return map[bool]float64{true: 1}[v] }

// number returns a number of JSON; true is 1, and what is not a number NaN.
func number(text json.RawMessage) float64 {
	var v any
	_ = json.Unmarshal(text, &v) // an overflow is not a number
	switch v := v.(type) {
	case bool:
		return truth(v)
	case float64:
		return v
	}
	return math.NaN()
}

// readAggregate takes directions of metrics from the aggregate of NAME_samples.jsonl, which is NAME.json next to it, and
// notes samples that it has and the file lacks. It does nothing without an aggregate.
func (f *file) readAggregate(samples string, scores map[string][]float64, records int) error {
	path := strings.TrimSuffix(strings.TrimSuffix(samples, filepath.Ext(samples)), "_samples") + ".json"
	if path == samples {
		return nil
	}
	type result struct {
		ID     string `json:"evaluation_result_id"`
		Metric struct {
			Lower *bool `json:"lower_is_better"`
		} `json:"metric_config"`
		Score struct {
			Score       *float64 `json:"score"`
			Uncertainty struct {
				Samples int `json:"num_samples"`
			} `json:"uncertainty"`
		} `json:"score_details"`
	}
	var results []result
	var of struct {
		Rows int `json:"total_rows"`
	}
	if _, err := pyjson.ReadBeside(path, "aggregate", func(r *pyjson.Reader, key string) error {
		switch key {
		case "evaluation_results":
			return r.Array(func(i int) error {
				if i == mostMetrics {
					return fmt.Errorf("more than %d results", mostMetrics)
				}
				results = append(results, result{})
				return r.Value(&results[i])
			})
		case "detailed_evaluation_results":
			return r.Value(&of)
		}
		return r.Skip()
	}); err != nil {
		return err
	}
	first := f.logs[0]
	if missing := of.Rows - records; missing > 0 {
		first.Notes = append(first.Notes, fmt.Sprintf("%d of %s of the aggregate are not in the file", missing, text.Count(of.Rows, "record")))
	}
	for _, one := range results {
		own := scores[one.ID]
		if own == nil && len(results) == 1 && len(scores) == 1 { // records need not name their result
			one.ID, own = "", scores[""]
		}
		if own == nil {
			continue
		}
		name := cmp.Or(one.ID, "score")
		if one.Metric.Lower != nil {
			for _, log := range f.logs {
				log.Higher[name] = !*one.Metric.Lower
			}
		}
		mean, n := statistics.Mean(own), len(own)
		switch total, recorded := one.Score.Uncertainty.Samples, one.Score.Score; {
		case total > n:
			first.Notes = append(first.Notes, fmt.Sprintf("%d of %s of %s are not in the file", total-n, text.Count(total, "sample"), text.Line(name, 60)))
		case recorded != nil && len(f.logs) == 1 && of.Rows == 0 && !near(mean, *recorded) && !near(100*mean, *recorded):
			first.Notes = append(first.Notes, fmt.Sprintf("the aggregate of %s is %.4g, but the mean of %s here is %.4g: some can be missing", text.Line(name, 60), *recorded, text.Count(n, "sample"), mean))
		}
	}
	return nil
}

// near reports whether a and b differ by rounding at most.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*max(1e-9, math.Abs(a), math.Abs(b)) }
