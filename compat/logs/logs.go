// Package logs reads files where other programs recorded results. Each format declares how a file is recognized,
// which of its fields are those of an attempt, and what is remarkable about it. One reader accumulates attempts, in
// bounded memory, and counts what its notes report.
package logs

import (
	"errors"
	"fmt"
	"maps"
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

// Benchmark returns the readers of all formats. The first that recognizes a file reads it.
func Benchmark() plan.Benchmark {
	b := plan.Benchmark{Name: "logs"}
	for _, f := range []format{inspect, swebench, lmEval, everyEval, junit, columns} {
		b.Logs = append(b.Logs, plan.LogFormat{Name: f.name, Title: f.title, Holds: f.holds, Read: f.readFile})
	}
	return b
}

// format declares files of a program.
type format struct {
	name, title string
	holds       func(head []byte) bool
	read        func(f *file, in *os.File) error
	metric      string // if it is the only one; higher values are better
	notes       []note
}

// note describes attempts that were counted. %s in words is the metric.
type note struct{ of, noun, words string }

// hasKeys returns a function that recognizes JSON with keys; a | separates alternatives.
func hasKeys(want ...string) func(head []byte) bool {
	return func(head []byte) bool {
		keys := pyjson.Keys(head)
		return !slices.ContainsFunc(want, func(all string) bool {
			return !slices.ContainsFunc(strings.Split(all, "|"), func(key string) bool { return keys[key] })
		})
	}
}

func (t *format) readFile(in *os.File) ([]*plan.Log, error) {
	f := newFile()
	if err := t.read(f, in); err != nil {
		return nil, err
	}
	if len(f.attempts) == 0 {
		return nil, errors.New("it has no attempts")
	}
	for _, l := range f.logs {
		if t.metric != "" {
			l.Metrics, l.Higher[t.metric] = []string{t.metric}, true
		}
	}
	first := f.logs[0]
	var notes []string
	for _, n := range t.notes {
		for _, of := range slices.SortedFunc(maps.Keys(f.counts), func(a, b [2]string) int { return strings.Compare(a[1], b[1]) }) {
			if of[0] == n.of && f.counts[of] > 0 {
				notes = append(notes, text.Count(f.counts[of], n.noun)+" "+strings.Replace(n.words, "%s", text.Line(of[1], 60), 1))
			}
		}
	}
	first.Notes = append(first.Notes, notes...)
	return f.logs, nil
}

// Limits of what is kept of a file. The size of a compressed file does not limit them.
const (
	mostAttempts = 1_000_000 // with parts of them
	mostMetrics  = 1_000     // of a contender
	mostValues   = 3_000_000 // of all attempts
	maxName      = 4 << 10   // bytes of a name: of a problem, a contender or a metric
	maxText      = 256 << 20 // bytes of all names and messages
)

// file accumulates the logs of a file.
type file struct {
	logs     []*plan.Log
	of       map[string]*plan.Log // by the values that name a contender
	attempts map[part]int         // indices in the log of the contender
	repeats  map[part]int         // attempts without a number, by all but that
	metrics  map[part]bool        // of contenders
	numbers  map[string]int       // values that are numbers, by metric
	counts   map[[2]string]int    // what notes report, by metric
	text     int                  // bytes of names and messages
	values   int                  // of all attempts
}

func newFile() *file {
	return &file{of: map[string]*plan.Log{}, attempts: map[part]int{}, repeats: map[part]int{}, metrics: map[part]bool{}, numbers: map[string]int{}, counts: map[[2]string]int{}}
}

// part identifies a part of an attempt, or the attempt itself without a name.
type part struct {
	log     *plan.Log
	problem string
	repeat  int
	name    string
}

// entry is an attempt, or a named part of one, which other records continue.
type entry struct {
	log              *plan.Log // nil means the only one
	problem, cluster string
	below            string // name of the task that the problem is below
	repeat           int    // 0 means the next one
	part             string
	class            verdict.Class // "" means judged
	message          string
	values           []value
}

// value is the value of a metric, which is NaN without a number.
type value struct {
	metric string
	number float64
}

// count counts something that a note reports.
func (f *file) count(of, metric string) { f.counts[[2]string{of, metric}]++ }

// names counts texts that are kept, and returns an error if one is too long for a name, or all are too large.
func (f *file) names(names ...string) error {
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("the name %q... is longer than %d bytes", name[:60], maxName)
		}
		f.text += len(name)
	}
	if f.text > maxText {
		return fmt.Errorf("its names and messages are larger than %d MiB", maxText>>20)
	}
	return nil
}

// log returns the log of the contender with values of labels.
func (f *file) log(labels, values []string) (*plan.Log, error) {
	name := strings.Join(values, "\x00")
	if l := f.of[name]; l != nil {
		return l, nil
	}
	if err := f.names(values...); err != nil {
		return nil, err
	}
	l := &plan.Log{Name: strings.Clone(strings.Join(values, " ")), Labels: map[string]string{}, Higher: map[string]bool{}}
	for i, label := range labels {
		l.Labels[label] = strings.Clone(values[i])
	}
	f.of[strings.Clone(name)] = l
	f.logs = append(f.logs, l)
	return l, nil
}

// add adds an entry and returns its attempt.
func (f *file) add(e entry) (a *plan.LogAttempt, err error) {
	if e.log == nil {
		if e.log, err = f.log(nil, nil); err != nil {
			return nil, err
		}
	}
	if e.problem == "" {
		return nil, errors.New("an attempt has no name of a problem")
	}
	if err := f.names(e.problem, e.below, e.part, e.message); err != nil {
		return nil, err
	}
	if e.below != "" {
		e.problem, e.cluster = e.below+"/"+e.problem, e.below
	}
	if e.repeat == 0 {
		counted := part{e.log, e.problem, 0, e.part}
		f.repeats[counted]++
		e.repeat = f.repeats[counted]
	}
	whole, own := part{e.log, e.problem, e.repeat, ""}, part{e.log, e.problem, e.repeat, e.part}
	if _, twice := f.attempts[own]; twice {
		return nil, fmt.Errorf("%s %d at %s is duplicated", text.Line(strings.TrimPrefix(e.part+" of attempt", " of "), 80), e.repeat, text.Line(e.problem, 80))
	}
	if len(f.attempts) >= mostAttempts {
		return nil, fmt.Errorf("more than %d attempts", mostAttempts)
	}
	at, known := f.attempts[whole]
	if !known {
		if e.class == "" {
			e.class = verdict.Judged
		}
		at = len(e.log.Attempts)
		e.log.Attempts = append(e.log.Attempts, plan.LogAttempt{Problem: e.problem, Cluster: e.cluster, Repeat: e.repeat, Class: e.class, Message: e.message, Values: map[string]float64{}})
		f.attempts[whole] = at
	}
	f.attempts[own] = at
	a = &e.log.Attempts[at]
	for _, v := range e.values {
		if err := f.value(e.log, a, v.metric, v.number); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (f *file) value(l *plan.Log, a *plan.LogAttempt, metric string, v float64) error {
	if key := (part{log: l, name: metric}); !f.metrics[key] {
		if err := f.names(metric); err != nil {
			return err
		}
		if len(l.Metrics) == mostMetrics {
			return fmt.Errorf("more than %d metrics", mostMetrics)
		}
		f.metrics[key] = true
		l.Metrics = append(l.Metrics, metric)
	}
	if math.IsNaN(v) {
		return nil
	}
	f.numbers[metric]++
	a.Values[metric] = v
	if f.values++; f.values > mostValues {
		return fmt.Errorf("more than %d values", mostValues)
	}
	return nil
}

// decimal returns the finite number that a text is, NaN for another text.
func decimal(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// below puts the problems of a log below their task, which is known only after them.
func (f *file) below(l *plan.Log, task string) error {
	l.Labels["task"] = task
	for i := range l.Attempts {
		if err := f.names(task); err != nil {
			return err
		}
		l.Attempts[i].Problem, l.Attempts[i].Cluster = task+"/"+l.Attempts[i].Problem, task
	}
	return nil
}
