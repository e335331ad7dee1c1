// Package swebench reads files of SWE-bench's harness: reports of a run and of instances, and predictions.
package swebench

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Benchmark returns the reader of SWE-bench's files.
func Benchmark() plan.Benchmark {
	return plan.Benchmark{Name: "swebench", Logs: []plan.LogFormat{{Name: "swebench", Title: "a report or predictions of SWE-bench", Holds: holds, Read: read}}}
}

// metric is the only one.
const metric = "resolved"

// maxInstances bounds the memory that a report takes.
const maxInstances = 1_000_000

func holds(head []byte) bool {
	keys := pyjson.Keys(head)
	if keys["total_instances"] && keys["submitted_instances"] {
		return true
	}
	for key := range keys {
		if strings.HasSuffix(key, ".patch_successfully_applied") || strings.HasSuffix(key, ".patch_is_None") {
			return true
		}
	}
	return formOf(head) != noPredictions
}

// reader accumulates the content of a report.
type reader struct {
	log    plan.Log
	seen   map[string]string // the list or place that has an instance
	counts map[string]int
	// infrastructure lists the instances that SWE-bench supposes not to be resolved because of the machine.
	infrastructure []string
	size           plan.LogSize
}

// lists are the lists of a run's report that record how instances ended. A completed instance is resolved or
// not. An error counts as not resolved, as in SWE-bench: a patch that does not apply is one.
var lists = map[string]struct {
	class verdict.Class
	value float64
}{
	"resolved_ids":    {verdict.Judged, 1},
	"unresolved_ids":  {verdict.Judged, 0},
	"empty_patch_ids": {verdict.NoSubmission, 0},
	"error_ids":       {verdict.NoReport, 0},
}

func read(file *os.File) ([]*plan.Log, error) {
	head := make([]byte, plan.LogHead)
	n, _ := file.ReadAt(head, 0) // io.EOF for a short file
	if f := formOf(head[:n]); f != noPredictions {
		return readPredictions(file, f)
	}
	r := pyjson.NewReader(file, pyjson.Options{})
	s := &reader{seen: map[string]string{}, counts: map[string]int{}}
	member := func(key string) error {
		end, listed := lists[key]
		switch {
		case listed:
			return r.Array(func(int) error {
				var id string
				if err := r.Value(&id); err != nil {
					return err
				}
				return s.add(r, id, key, end.class, end.value)
			})
		case key == "incomplete_ids", key == "ambiguous_failure_ids":
			return r.Array(func(int) error {
				s.counts[key]++
				return r.Skip()
			})
		case key == "infra_failure_ids":
			return r.Value(&s.infrastructure)
		case strings.HasSuffix(key, "_ids"), strings.HasSuffix(key, "_instances"),
			slices.Contains([]string{"schema_version", "failure_reasons", "unstopped_containers", "unremoved_images"}, key):
			return r.Skip()
		}
		return s.instance(r, key)
	}
	if err := r.Only(func() error { return r.Object(member) }); err != nil {
		return nil, err
	}
	l, err := s.finish()
	return []*plan.Log{l}, err
}

// instance reads what the report of an instance says.
func (s *reader) instance(r *pyjson.Reader, id string) error {
	var i struct {
		None     bool  `json:"patch_is_None"`
		Exists   *bool `json:"patch_exists"`
		Resolved *bool `json:"resolved"`
	}
	if err := r.Value(&i); err != nil {
		return err
	}
	switch {
	case i.None || i.Exists != nil && !*i.Exists:
		return s.add(r, id, "empty_patch_ids", verdict.NoSubmission, 0)
	case i.Resolved == nil:
		return errors.New("want resolved, true or false")
	case *i.Resolved:
		return s.add(r, id, "resolved_ids", verdict.Judged, 1)
	}
	return s.add(r, id, "unresolved_ids", verdict.Judged, 0)
}

// repository returns that of an instance, OWNER__NAME-NUMBER; "" if the id has another form.
func repository(id string) string {
	if at := strings.LastIndexByte(id, '-'); at > 0 && strings.Contains(id[:at], "__") {
		return id[:at]
	}
	return ""
}

func (s *reader) add(r *pyjson.Reader, id, list string, class verdict.Class, value float64) error {
	switch known, twice := s.seen[id]; {
	case id == "":
		return errors.New("an instance without a name")
	case twice:
		return fmt.Errorf("the instance %s is also in %s", text.Line(id, 80), known)
	case len(s.seen) == maxInstances:
		return fmt.Errorf("more than %d instances", maxInstances)
	}
	if err := s.size.Names(id); err != nil {
		return err
	}
	s.seen[id] = list
	s.counts[list]++
	a := plan.LogAttempt{Problem: id, Cluster: repository(id), Repeat: 1, Class: class}
	if class == verdict.Judged {
		a.Values = map[string]float64{metric: value}
	}
	s.log.Attempts = append(s.log.Attempts, a)
	return nil
}

// finish returns what was read. A report does not say what it is of: its file's name does.
func (s *reader) finish() (*plan.Log, error) {
	if len(s.log.Attempts) == 0 {
		return nil, errors.New("it lists no instance that was submitted; reports older than schema_version 2 have counts only")
	}
	l := &s.log
	broken := map[string]bool{}
	for _, id := range s.infrastructure {
		broken[id] = s.seen[id] == "unresolved_ids" || s.seen[id] == "error_ids"
	}
	for i := range l.Attempts {
		a := &l.Attempts[i]
		if a.Class == verdict.NoReport {
			a.Message = "ended by an error"
		}
		if broken[a.Problem] {
			a.Class, a.Values, a.Message = verdict.NotJudged, nil, "a likely failure of infrastructure"
			s.counts[s.seen[a.Problem]]--
			s.counts["infra_failure_ids"]++
		}
	}
	l.Metrics, l.Higher = []string{metric}, map[string]bool{metric: true}
	for _, note := range []struct{ list, words string }{
		{"error_ids", "ended by an error, counted as not resolved"},
		{"empty_patch_ids", "without a patch, counted as not resolved"},
		{"ambiguous_failure_ids", "not resolved for an ambiguous cause, counted as not resolved"},
		{"infra_failure_ids", "not resolved for a likely failure of infrastructure: SWE-bench counts them; here they have no verdict"},
		{"incomplete_ids", "not submitted: SWE-bench counts them as not resolved; here they are left out"},
	} {
		if n := s.counts[note.list]; n > 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("%s %s", text.Count(n, "instance"), note.words))
		}
	}
	return l, nil
}
