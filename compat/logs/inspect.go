package logs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// inspect reads logs of inspect_ai: archives, whose members are compressed by deflate or zstd, and JSON. Samples are
// problems, epochs are attempts, and scorers are metrics.
var inspect = format{
	name: "inspect", title: "a log of inspect_ai", read: readInspect,
	holds: func(head []byte) bool {
		if isArchive(head) {
			return bytes.Contains(head, []byte(startMember)) || bytes.Contains(head, []byte(headerMember))
		}
		return hasKeys("status", "eval", "eval.task")(head)
	},
	notes: []note{
		{"error", "attempt", "ended by an error"},
		{"limit", "attempt", "ended by a limit; what was scored counts"},
		{"list", "score", "of %s that are lists, counted as 0 as in inspect_ai"},
		{"none", "score", "of %s without a number: inspect_ai counts 0; here they have no verdict"},
	},
}

func isArchive(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// inspectLog holds a log without its samples.
type inspectLog struct {
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
	scorers map[string]string // of metrics
}

func readInspect(f *file, in *os.File) error {
	head := make([]byte, 4)
	n, _ := in.ReadAt(head, 0) // too short for an archive
	l := inspectLog{scorers: map[string]string{}}
	samples := func(r *pyjson.Reader) error {
		return r.Array(func(int) error { return l.sample(f, r) })
	}
	// An archive has the samples in other members.
	whole := func(r *pyjson.Reader) error {
		return r.Object(func(key string) error {
			switch key {
			case "status":
				return r.Value(&l.status)
			case "invalidated":
				return r.Value(&l.invalidated)
			case "eval":
				return r.Value(&l.eval)
			case "results":
				return r.Value(&l.results)
			case "samples":
				return samples(r)
			}
			return r.Skip()
		})
	}
	var err error
	if isArchive(head[:n]) {
		err = readArchive(in, whole, samples)
	} else {
		r := pyjson.NewReader(in, pyjson.Options{})
		err = r.Only(func() error { return whole(r) })
	}
	switch {
	case err != nil:
		return err
	case l.eval.Task == "":
		return errors.New("it has no name of the evaluated task (eval.task)")
	case len(f.logs) == 0:
		return errors.New("it has no samples; inspect_ai writes none with --no-log-samples")
	}
	return l.finish(f)
}

// sample reads a sample or its summary, which has texts instead of an error and of a limit.
func (l *inspectLog) sample(f *file, r *pyjson.Reader) error {
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
	id, ok := textOrNumber(s.ID)
	if !ok {
		return errors.New("want an id, a string or a number")
	}
	if s.Epoch < 1 {
		return fmt.Errorf("sample %s: want an epoch of at least 1", text.Line(id, 80))
	}
	e := entry{problem: id, repeat: s.Epoch}
	metrics := len(s.Scores)
	for scorer, score := range s.Scores {
		parts := map[string]json.RawMessage{}
		if bytes.HasPrefix(score.Value, []byte("{")) { // each member is a metric
			_ = json.Unmarshal(score.Value, &parts) // it is valid
		}
		if metrics += len(parts); metrics > mostMetrics {
			return fmt.Errorf("more than %d metrics", mostMetrics)
		}
		for name, part := range parts {
			e.values = append(e.values, l.value(f, scorer, scorer+"."+name, part))
		}
		if !bytes.HasPrefix(score.Value, []byte("{")) {
			e.values = append(e.values, l.value(f, scorer, scorer, score.Value))
		}
	}
	if isSet(s.Limit) {
		f.count("limit", "")
	}
	if isSet(s.Error) {
		f.count("error", "")
		e.message = message(s.Error)
		if !slices.ContainsFunc(e.values, func(v value) bool { return !math.IsNaN(v.number) }) {
			e.class = verdict.NotJudged
		}
	}
	_, err := f.add(e)
	return err
}

func isSet(value json.RawMessage) bool { return len(value) > 0 && !bytes.Equal(value, []byte("null")) }

// message returns the first line of an error.
func message(of json.RawMessage) string {
	var brief string
	if json.Unmarshal(of, &brief) != nil {
		var whole struct{ Message string }
		_ = json.Unmarshal(of, &whole) // anything else has no message
		brief = whole.Message
	}
	return text.Line(brief, 200)
}

// value returns the value of a metric, in the way of inspect_ai. Scores without a number count as 0 there, and as
// missing here.
func (l *inspectLog) value(f *file, scorer, metric string, score json.RawMessage) value {
	l.scorers[metric] = scorer
	v := value{metric, number(score)}
	var word string
	switch {
	case len(score) > 0 && score[0] == '[':
		v.number = 0
		f.count("list", metric)
	case json.Unmarshal(score, &word) == nil:
		if v.number = gradeOf(word); isSet(score) && math.IsNaN(v.number) {
			f.count("none", metric)
		}
	case isSet(score) && math.IsNaN(v.number):
		f.count("none", metric)
	}
	return v
}

// gradeOf returns the number of a text, NaN if it has none.
func gradeOf(word string) float64 {
	switch word {
	case "C":
		return 1
	case "P":
		return 0.5
	case "I", "N":
		return 0
	}
	switch strings.ToLower(word) {
	case "yes", "true":
		return 1
	case "no", "false":
		return 0
	}
	return decimal(word)
}

// finish names the contender, orders metrics and adds notes.
func (l *inspectLog) finish(f *file) error {
	out := f.logs[0]
	out.Name = cmp.Or(l.eval.Model, l.eval.Task)
	if l.eval.Model != "" {
		out.Labels["model"] = l.eval.Model
	}
	if err := cmp.Or(f.names(l.eval.Model), f.below(out, l.eval.Task)); err != nil {
		return err
	}
	rank := map[string]int{}
	for i, s := range l.eval.Scorers {
		rank[s.Name] = i - len(l.eval.Scorers) // below 0, which is that of any other
	}
	slices.SortFunc(out.Metrics, func(a, b string) int {
		s, t := l.scorers[a], l.scorers[b]
		return cmp.Or(cmp.Compare(rank[s], rank[t]), cmp.Compare(s, t), cmp.Compare(a, b))
	})
	if l.status != "success" {
		out.Notes = append(out.Notes, "the run did not end well: its status is "+text.Line(cmp.Or(l.status, "unknown"), 40))
	}
	if l.invalidated {
		out.Notes = append(out.Notes, "samples were marked as invalid; inspect_ai counts them, and so does this")
	}
	if missing := l.results.Total - len(out.Attempts); missing > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %s are not in the log", missing, text.Count(l.results.Total, "sample")))
	}
	if r := l.eval.Config.Reducers; len(r) > 0 && !slices.Equal(r, []string{"mean"}) {
		out.Notes = append(out.Notes, fmt.Sprintf("inspect_ai reduces epochs by %s; here a sample is worth their mean", text.Line(strings.Join(r, ", "), 60)))
	}
	return nil
}
