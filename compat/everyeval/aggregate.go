package everyeval

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/compat/jsonfile"
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

// resultSum holds the scores of a result.
type resultSum struct{ scores []float64 }

// readAggregate reads the aggregate of NAME_samples.jsonl, which is NAME.json next to it. Without one, it returns nil.
func readAggregate(samples string) (*aggregateOf, error) {
	base := strings.TrimSuffix(samples, filepath.Ext(samples))
	path := strings.TrimSuffix(base, "_samples") + ".json"
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || path == samples {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a, r := &aggregateOf{}, jsonfile.New(file)
	err = r.Object(func(key string) error {
		switch key {
		case "evaluation_results":
			return r.Array(func(i int) error {
				if i == mostMetrics {
					return r.Fail("more than %d results", mostMetrics)
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
	if err != nil {
		return nil, fmt.Errorf("the aggregate %s next to it: %w", filepath.Base(path), err)
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
		sum := l.sums[one.ID]
		if sum == nil && len(a.results) == 1 && len(l.sums) == 1 { // records need not name their result
			one.ID, sum = "", l.sums[""]
		}
		if sum == nil {
			continue
		}
		name := (&record{result: one.ID}).name("score")
		if one.Metric.Lower != nil {
			for _, log := range l.logs {
				log.Higher[name] = !*one.Metric.Lower
			}
		}
		mean, n := statistics.Mean(sum.scores), len(sum.scores)
		switch total, said := one.Score.Uncertainty.Samples, one.Score.Score; {
		case total > n:
			first.Notes = append(first.Notes, fmt.Sprintf("%d of %s of %s are not in the file", total-n, text.Count(total, "sample"), text.Line(name, 60)))
		case said != nil && len(l.logs) == 1 && a.rows == 0 && !near(mean, *said) && !near(100*mean, *said):
			first.Notes = append(first.Notes, fmt.Sprintf("the aggregate of %s is %.4g, but the mean of %s here is %.4g: some can be missing", text.Line(name, 60), *said, text.Count(n, "sample"), mean))
		}
	}
}

// near reports whether a and b differ by rounding at most.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*max(1e-9, math.Abs(a), math.Abs(b)) }
