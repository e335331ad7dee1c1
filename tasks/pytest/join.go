package pytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Ended is a Run that has ended.
type Ended struct {
	File    string // its Run.File; for a single run, its test file
	Outputs []cache.Output
}

// Join returns the pytest-report.json and the log of the runs of a checkpoint, whose tests are in
// directory. Those of a single run are returned unchanged; several are joined as if one run had run all
// tests, like in Parse. The report is nil if it is missing, for example because a run broke.
func Join(ctx context.Context, store cache.Store, directory string, runs []Ended) (report, log []byte, err error) {
	if len(runs) == 0 { // a checkpoint that a selective run did not compile
		return nil, nil, nil
	}
	var parts []part
	for _, run := range runs {
		if _, ok := run.output(OutputExit); !ok {
			continue
		}
		l, err := readLeft(ctx, store, run.output)
		if err != nil {
			return nil, nil, err
		}
		if len(runs) == 1 {
			return l.report, l.log, nil
		}
		one := newPart(path.Join(directory, run.File), l)
		parts = append(parts, one)
		log = fmt.Appendf(log, "==> %s <==\n", one.file)
		log = append(log, one.log...)
		if !bytes.HasSuffix(log, []byte("\n")) {
			log = append(log, '\n')
		}
	}
	if len(parts) < len(runs) {
		return nil, log, nil
	}
	report, err = joinReports(parts)
	return report, log, err
}

func (e Ended) output(name string) (cache.Digest, bool) {
	for _, o := range e.Outputs {
		if o.Name == name {
			return o.Digest, true
		}
	}
	return cache.Digest{}, false
}

// wholeReport is a complete report of pytest-json-report.
type wholeReport struct {
	Created     json.RawMessage   `json:"created,omitempty"`
	Duration    float64           `json:"duration"` // seconds
	ExitCode    int               `json:"exitcode"`
	Root        json.RawMessage   `json:"root,omitempty"`
	Environment json.RawMessage   `json:"environment,omitempty"`
	Summary     map[string]int    `json:"summary"`
	Collectors  []wholeCollector  `json:"collectors,omitempty"`
	Tests       []json.RawMessage `json:"tests"`
	Warnings    []json.RawMessage `json:"warnings,omitempty"`
}

type wholeCollector struct {
	NodeID   string            `json:"nodeid"`
	Outcome  string            `json:"outcome"`
	Result   []json.RawMessage `json:"result"`
	LongRepr json.RawMessage   `json:"longrepr,omitempty"`
}

// joinReports encodes the report of a run of all parts: the tests that count, in order, and the derived
// numbers. Data about the session is from the first part.
func joinReports(parts []part) ([]byte, error) {
	w := merge(parts)
	if !w.usable {
		return nil, nil
	}
	joined := wholeReport{ExitCode: w.code, Summary: map[string]int{}, Tests: []json.RawMessage{}}
	tests := make([][]json.RawMessage, len(parts))
	for i := range parts {
		if parts[i].report == nil || parts[i].mismatch {
			continue
		}
		var one wholeReport
		if err := json.Unmarshal(parts[i].report, &one); err != nil {
			continue // the tests are in the other report
		}
		tests[i] = one.Tests
		joined.add(&one)
	}
	for _, t := range w.tests {
		if t.test < len(tests[t.part]) {
			joined.Tests = append(joined.Tests, tests[t.part][t.test])
			joined.Summary[outcomeOf(tests[t.part][t.test])]++
		}
	}
	joined.Summary["total"], joined.Summary["collected"] = len(joined.Tests), w.collected
	encoded, err := json.Marshal(joined)
	if err != nil {
		return nil, fmt.Errorf("joining the reports: %w", err)
	}
	return encoded, nil
}

func outcomeOf(test json.RawMessage) string {
	var t jsonTest
	if err := json.Unmarshal(test, &t); err != nil {
		return ""
	}
	return t.Outcome
}

// add copies the data that does not depend on which tests count.
func (w *wholeReport) add(part *wholeReport) {
	if w.Created == nil {
		w.Created, w.Root, w.Environment = part.Created, part.Root, part.Environment
	}
	w.Duration += part.Duration
	if n := part.Summary["deselected"]; n > 0 {
		w.Summary["deselected"] += n
	}
	w.Warnings = append(w.Warnings, part.Warnings...)
	for _, c := range part.Collectors {
		w.collect(c)
	}
}

// collect adds a collector. Every part contains collectors of the directories above its files, with only
// its own files.
func (w *wholeReport) collect(c wholeCollector) {
	i := slices.IndexFunc(w.Collectors, func(known wholeCollector) bool { return known.NodeID == c.NodeID })
	if i < 0 {
		w.Collectors = append(w.Collectors, c)
		return
	}
	known := &w.Collectors[i]
	for _, r := range c.Result {
		if !slices.ContainsFunc(known.Result, func(k json.RawMessage) bool { return bytes.Equal(k, r) }) {
			known.Result = append(known.Result, r)
		}
	}
	if known.Outcome == "passed" {
		known.Outcome = c.Outcome
	}
	if known.LongRepr == nil {
		known.LongRepr = c.LongRepr
	}
}
