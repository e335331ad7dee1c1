package plan

import (
	"cmp"
	"fmt"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// recordedReader returns a reader of result files in any format, for solutions that name such files.
func recordedReader(formats []LogFormat) func(*lang.ReaderFiles, []string) ([]*lang.RecordedResults, error) {
	return func(files *lang.ReaderFiles, paths []string) ([]*lang.RecordedResults, error) {
		r := recordedSums{of: map[string]*recordedSum{}}
		for _, path := range paths {
			if err := r.read(files, path, formats); err != nil {
				return nil, err
			}
		}
		var all []*lang.RecordedResults
		for _, s := range r.all {
			all = append(all, s.results())
		}
		return all, nil
	}
}

// recordedSums sums up attempts by contender, in the order of files.
type recordedSums struct {
	all []*recordedSum
	of  map[string]*recordedSum
}

type recordedSum struct {
	lang.RecordedResults
	metric string
	values map[string][]float64
}

func (r *recordedSums) read(files *lang.ReaderFiles, path string, formats []LogFormat) error {
	file, err := files.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	format, _, err := FormatOf(file, formats)
	if err != nil {
		return err
	}
	if format == nil {
		return fmt.Errorf("%s has an unknown format", path)
	}
	logs, err := format.Read(file)
	if err != nil {
		return fmt.Errorf("%s is not readable as %s: %w", path, format.Title, err)
	}
	for _, l := range logs {
		r.add(format.Name, cmp.Or(l.Name, DefaultName(path)), l)
	}
	return nil
}

func (r *recordedSums) add(by, name string, l *Log) {
	s := r.of[name]
	if s == nil {
		s = &recordedSum{values: map[string][]float64{}}
		s.RecordedResults = lang.RecordedResults{By: by, Contender: name, Model: l.Labels["model"], Solved: true, Share: true}
		r.of[name], r.all = s, append(r.all, s)
	}
	if s.metric == "" && len(l.Metrics) > 0 {
		s.metric = l.Metrics[0]
	}
	for i := range l.Attempts {
		s.attempt(&l.Attempts[i])
	}
}

// attempt adds the value of an attempt: 0 if the submission's fault lost it, and no value without a verdict.
func (s *recordedSum) attempt(a *LogAttempt) {
	v, ok := a.Values[s.metric]
	values := s.values[a.Problem]
	if lost := a.Class.Status() == verdict.Error || a.Class.Status() == verdict.TimedOut; ok || lost {
		values = append(values, v)
		s.Solved = s.Solved && (v == 0 || v == 1)
		s.Share = s.Share && v >= 0 && v <= 1
	}
	s.values[a.Problem] = values
}

func (s *recordedSum) results() *lang.RecordedResults {
	s.Scores = map[string]*float64{}
	for problem, values := range s.values {
		s.Scores[problem] = nil
		if len(values) > 0 {
			mean := statistics.Mean(values)
			s.Scores[problem] = &mean
		}
	}
	return &s.RecordedResults
}
