package everyeval

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// aggregateOf holds the parts of an aggregate that its samples lack.
type aggregateOf struct {
	results []resultOf
	rows    int // lines of samples
}

// resultOf is a result of an aggregate. A nil field is not recorded.
type resultOf struct {
	ID     string `json:"evaluation_result_id"`
	Metric struct {
		Lower *bool `json:"lower_is_better"`
	} `json:"metric_config"`
	Score struct {
		Score       *float64
		Uncertainty struct {
			Samples int `json:"num_samples"`
		}
	} `json:"score_details"`
}

// readAggregate reads the aggregate of NAME_samples.jsonl, which is NAME.json next to it. Without one, it returns nil.
func readAggregate(samples string) (*aggregateOf, error) {
	base := strings.TrimSuffix(samples, filepath.Ext(samples))
	path := strings.TrimSuffix(base, "_samples") + ".json"
	if path == samples {
		return nil, nil
	}
	a := &aggregateOf{}
	found, err := pyjson.ReadBeside(path, "aggregate", func(r *pyjson.Reader, key string) error {
		switch key {
		case "evaluation_results":
			return r.Array(func(i int) error {
				if i == mostMetrics {
					return fmt.Errorf("more than %d results", mostMetrics)
				}
				var one resultOf
				err := r.Value(&one)
				a.results = append(a.results, one)
				return err
			})
		case "detailed_evaluation_results":
			var d *struct {
				Rows int `json:"total_rows"`
			}
			err := r.Value(&d)
			if d != nil {
				a.rows = d.Rows
			}
			return err
		}
		return r.Skip()
	})
	if err != nil || !found {
		return nil, err
	}
	return a, nil
}

// judge takes directions of metrics from the aggregate, and notes samples that it has and the file lacks.
func (l *reader) judge(a *aggregateOf) {
	first := l.logs[0]
	if missing := a.rows - l.records; missing > 0 {
		first.Notes = append(first.Notes, fmt.Sprintf("%d of %s of the aggregate are not in the file", missing, text.Count(a.rows, "record")))
	}
	for i := range a.results {
		one := &a.results[i]
		scores := l.scores[one.ID]
		if scores == nil && len(a.results) == 1 && len(l.scores) == 1 { // records need not name their result
			one.ID, scores = "", l.scores[""]
		}
		if scores == nil {
			continue
		}
		name := (&record{result: one.ID}).name("score")
		if one.Metric.Lower != nil {
			for _, log := range l.logs {
				log.Higher[name] = !*one.Metric.Lower
			}
		}
		mean, n := statistics.Mean(scores), len(scores)
		switch total, recorded := one.Score.Uncertainty.Samples, one.Score.Score; {
		case total > n:
			first.Notes = append(first.Notes, fmt.Sprintf("%d of %s of %s are not in the file", total-n, text.Count(total, "sample"), text.Line(name, 60)))
		case recorded != nil && len(l.logs) == 1 && a.rows == 0 && !near(mean, *recorded) && !near(100*mean, *recorded):
			first.Notes = append(first.Notes, fmt.Sprintf("the aggregate of %s is %.4g, but the mean of %s here is %.4g: some can be missing", text.Line(name, 60), *recorded, text.Count(n, "sample"), mean))
		}
	}
}

// near reports whether a and b differ by rounding at most.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*max(1e-9, math.Abs(a), math.Abs(b)) }
