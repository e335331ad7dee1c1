package pytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// line is a line of the plugin's report: a stage of a test, a collector that did not pass or, last, the end.
type line struct {
	NodeID   string   `json:"nodeid"`
	Stage    string   `json:"stage"` // of stages, "subtest", "collect", or that of a plugin
	Outcome  string   `json:"outcome"`
	Seconds  float64  `json:"seconds"`
	Keywords keywords `json:"keywords"` // nearest decorator first
	Message  string   `json:"message"`
	Timeout  bool     `json:"timeout"` // pytest-timeout failed it
	End      *end     `json:"end"`
}

// end is the end of pytest's session.
type end struct {
	Exit      int    `json:"exit"`
	Collected int    `json:"collected"`
	Early     string `json:"early"` // why pytest did not run all selected tests
}

// stages lists the stages of a test.
var stages = []string{"setup", "call", "teardown"}

// stagesReport is the plugin's report.
type stagesReport struct {
	end
	failed  *line // the first failed collector
	tests   []reportedTest
	skipped []reportedTest // files, directories and classes that were skipped while pytest collected
}

// Limits of a report, which a submission can write that runs in pytest's process. Real lines have a hundred bytes, so
// real reports are smaller.
const (
	maxLines    = 100_000
	maxKeywords = 100 // of a test; the plugin writes no more
	maxSeconds  = 1e9 // of a stage
)

// keywords are the keywords of a test.
type keywords []string

// UnmarshalJSON implements json.Unmarshaler. A list of empty texts takes many times its size.
func (k *keywords) UnmarshalJSON(b []byte) error {
	elements, quoted := 1, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			elements++
		}
	}
	if elements > maxKeywords {
		return fmt.Errorf("a test has more than %d keywords", maxKeywords)
	}
	return json.Unmarshal(b, (*[]string)(k))
}

// decodeStages decodes a report. It returns an error if the report is not complete.
func decodeStages(content []byte) (*stagesReport, error) {
	var r stagesReport
	if bytes.Count(content, []byte("\n")) > maxLines {
		return nil, fmt.Errorf("it has more than %d lines", maxLines)
	}
	known, ended := map[string]int{}, false
	for text := range bytes.Lines(content) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, err
		}
		switch at, ok := known[l.NodeID]; {
		case ended:
			return nil, errors.New("it continues after its end")
		case l.End != nil:
			r.end, ended = *l.End, true
		case l.Stage == "collect" && l.Outcome == "skipped":
			r.skipped = append(r.skipped, l.hidden())
		case l.Stage == "collect":
			if r.failed == nil {
				r.failed = &l
			}
		case ok:
			r.tests[at].add(&l)
		default:
			known[l.NodeID] = len(r.tests)
			t := reportedTest{}
			t.File, t.ID = l.location("")
			t.add(&l)
			r.tests = append(r.tests, t)
		}
	}
	if !ended {
		return nil, errors.New("it has no end")
	}
	for i := range r.tests {
		r.tests[i].conclude()
	}
	return &r, nil
}

// location returns the file of a node and its ID in the file, which is id if the node is a file.
func (l *line) location(id string) (string, string) {
	file, rest, found := strings.Cut(l.NodeID, "::")
	switch {
	case found:
		return file, rest
	case id != "":
		return file, id
	}
	return "", file
}

// message returns the message of a stage that did not pass.
func (l *line) message() string {
	return shorten(strings.TrimPrefix(l.Message, "Skipped: "))
}

// hiddenID is the ID of the test that stands for the tests of a skipped file.
const hiddenID = "(collection)"

// hidden returns the skipped test that stands for the tests that a collector would have collected, whose number is
// unknown. Otherwise, a submission could remove tests from the count by lacking what they need.
func (l *line) hidden() reportedTest {
	t := reportedTest{Test: verdict.Test{Status: verdict.TestSkipped}}
	t.File, t.ID = l.location(hiddenID)
	t.Message = "skipped as a whole: " + l.message()
	return t
}

// add adds a stage. A stage of a test that runs again replaces the earlier one, but no failure or skip, unless a plugin
// repeats the attempt ("rerun"). An expected failure is skipped, since it shows nothing about the submission, and an
// unexpected pass is passed. A skipped subtest skips its test: otherwise, a submission could gain by lacking what it
// needs.
func (t *reportedTest) add(l *line) {
	if l.Stage == "setup" {
		t.passed = [3]bool{}
	}
	if t.keywords == nil { // subtests of a test that a plugin repeats come before its set-up
		t.keywords = l.Keywords
	}
	at := slices.Index(stages, l.Stage)
	if at >= 0 {
		t.passed[at], t.seconds[at] = l.Outcome == "passed", min(max(l.Seconds, 0), maxSeconds)
	}
	found := &t.found
	switch {
	case l.Outcome == "rerun":
		*found = t.earlier
	case l.Outcome == "failed":
		if found.failures++; found.failures == 1 {
			found.message = l.message()
		}
		if l.Timeout {
			found.timeouts++
		}
		if found.status != verdict.TestError {
			found.status = verdict.TestFailed
		}
		if l.Stage == "setup" || l.Stage == "teardown" {
			found.status = verdict.TestError
		}
	case l.Outcome == "skipped" && found.status == "":
		found.status, found.message = verdict.TestSkipped, l.message()
	}
	if l.Stage == "teardown" {
		t.earlier = t.found
	}
}

// conclude decides about a test after its last stage.
func (t *reportedTest) conclude() {
	for _, seconds := range t.seconds {
		t.DurationMS += seconds * 1000
	}
	t.Status, t.Message = t.found.status, t.found.message
	switch {
	case t.found.failures > 0 && t.found.failures == t.found.timeouts:
		t.Verdict = verdict.TestTimeout
	case t.Status != "":
	case t.passed == [3]bool{true, true, true}:
		t.Status = verdict.TestPassed
	default:
		t.Status, t.Message = verdict.TestError, "the test did not run to its end"
	}
}
