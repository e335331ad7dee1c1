package pytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// jsonReport contains the parts of pytest-json-report's output that are read here.
type jsonReport struct {
	exitCode  *int
	collected int
	failed    *collector // the first failed one
	tests     []reportedTest
	skipped   []reportedTest // files, directories and classes that were skipped while pytest collected
}

type jsonSummary struct {
	Collected int `json:"collected"`
}

type collector struct {
	NodeID   string   `json:"nodeid"`
	Outcome  string   `json:"outcome"`
	LongRepr longRepr `json:"longrepr"`
}

// longRepr is a text for users. If a plugin writes another JSON value, that is shown unchanged.
type longRepr string

// UnmarshalJSON implements json.Unmarshaler.
func (l *longRepr) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	*l = longRepr(shorten(text))
	return nil
}

// keywords are the keywords of a test, nearest decorator first.
type keywords []string

// maxKeywords is far above the number of keywords of real tests.
const maxKeywords = 1000

// UnmarshalJSON implements json.Unmarshaler.
func (k *keywords) UnmarshalJSON(b []byte) error {
	return eachElement(json.NewDecoder(bytes.NewReader(b)), func(word *string) error {
		if len(*k) == maxKeywords {
			return fmt.Errorf("a test has more than %d keywords", maxKeywords)
		}
		*k = append(*k, *word)
		return nil
	})
}

type jsonTest struct {
	NodeID   string   `json:"nodeid"`
	Outcome  string   `json:"outcome"`
	Keywords keywords `json:"keywords"`
	Setup    *stage   `json:"setup"`
	Call     *stage   `json:"call"`
	Teardown *stage   `json:"teardown"`
}

type stage struct {
	Duration float64  `json:"duration"` // seconds
	Outcome  string   `json:"outcome"`
	Crash    *crash   `json:"crash"`
	LongRepr longRepr `json:"longrepr"`
}

type crash struct {
	Path    string `json:"path"`
	Line    int    `json:"lineno"`
	Message string `json:"message"`
}

// errTooManyTests means that a report contains more tests than possible.
var errTooManyTests = errors.New("it has more tests than were collected")

// maxTests limits the tests of a run if pytest does not report how many it collected. A real report has
// hundreds of bytes for each.
const maxTests = 100_000

// decodeJSONReport decodes a report with at most most tests.
func decodeJSONReport(content []byte, most int) (*jsonReport, error) {
	var r jsonReport
	d := json.NewDecoder(bytes.NewReader(content))
	err := eachField(d, func(key string) (bool, error) {
		switch key {
		case "exitcode":
			return true, d.Decode(&r.exitCode)
		case "summary":
			var s jsonSummary
			err := d.Decode(&s)
			r.collected = s.Collected
			return true, err
		case "collectors":
			return true, eachElement(d, func(c *collector) error {
				switch {
				case c.Outcome == "failed" && r.failed == nil:
					r.failed = c
				case c.Outcome == "skipped" && len(r.skipped) == maxTests:
					return errTooManyTests
				case c.Outcome == "skipped":
					r.skipped = append(r.skipped, c.hidden())
				}
				return nil
			})
		case "tests":
			return true, eachElement(d, func(t *jsonTest) error {
				if len(r.tests) == most {
					return errTooManyTests
				}
				r.tests = append(r.tests, t.observed())
				return nil
			})
		}
		return false, nil
	})
	if err = cmp.Or(err, atEnd(d)); err != nil {
		return nil, fmt.Errorf("pytest-report.json is not a complete JSON report: %w", err)
	}
	return &r, nil
}

// jsonStatuses maps pytest's outcomes. An expected failure counts as skipped, since it shows nothing about
// the submission, and an unexpected pass as passed.
var jsonStatuses = map[string]verdict.TestStatus{
	"passed":  verdict.TestPassed,
	"failed":  verdict.TestFailed,
	"skipped": verdict.TestSkipped,
	"error":   verdict.TestError,
	"xfailed": verdict.TestSkipped,
	"xpassed": verdict.TestPassed,
}

func (t *jsonTest) observed() reportedTest {
	file, id, found := strings.Cut(t.NodeID, "::")
	if !found {
		file, id = "", t.NodeID
	}
	status, known := jsonStatuses[t.Outcome]
	o := reportedTest{Test: verdict.Test{ID: id, File: file, Status: status}, name: t.NodeID, keywords: t.Keywords}
	if !known && t.Outcome == "" {
		o.Status = verdict.TestError
	} else if !known {
		o.Status, o.unproven = t.byStages()
		o.Message = "pytest-report.json has the outcome " + strconv.Quote(shorten(t.Outcome)) + ", but no report shows that the test passed"
	}
	if status == verdict.TestPassed && (t.Call == nil || t.Teardown == nil) {
		// The report says "passed" until a phase says otherwise, so a test that
		// an interrupt cut off looks like one.
		o.Status, o.Message = verdict.TestError, "the test did not run to its end"
	}
	limits := 0
	for _, s := range []*stage{t.Setup, t.Call, t.Teardown} {
		if s == nil {
			continue
		}
		o.DurationMS += s.Duration * 1000
		if s.failed() {
			o.failures++
			if s.endedByLimit() {
				limits++
			}
		}
	}
	if limits > 0 && limits == o.failures {
		o.Verdict = verdict.TestTimeout
	}
	// The failure of the call phase is the most informative.
	for _, s := range []*stage{t.Call, t.Setup, t.Teardown} {
		if s != nil && s.failed() {
			o.Message = s.message()
			break
		}
	}
	if o.Status == verdict.TestSkipped && o.Message == "" {
		o.Message = t.skipReason()
	}
	if o.failures == 0 && !o.unproven && (o.Status == verdict.TestFailed || o.Status == verdict.TestError) {
		o.failures = 1 // in a stage of a plugin
	}
	return o
}

// skipReason returns why a test was skipped, or "".
func (t *jsonTest) skipReason() string {
	for _, s := range []*stage{t.Setup, t.Call} {
		if s != nil && s.Outcome == "skipped" {
			return s.LongRepr.skipReason()
		}
	}
	return ""
}

// skipReason returns the reason in pytest's report of a skip: a Python tuple of the file, the line and the
// reason.
func (l longRepr) skipReason() string {
	text := string(l)
	if at := strings.Index(text, "Skipped: "); strings.HasPrefix(text, "(") && at >= 0 {
		text = strings.TrimRight(text[at+len("Skipped: "):], `'")`)
	}
	return text
}

// hiddenID is the ID of the test that stands for the tests of a skipped file.
const hiddenID = "(collection)"

// hidden returns the skipped test that stands for the tests that c would have collected, whose number is
// unknown. Otherwise, a submission could remove tests from the count by lacking what they need.
func (c *collector) hidden() reportedTest {
	file, id, found := strings.Cut(c.NodeID, "::")
	if !found {
		id = hiddenID
	}
	return reportedTest{
		Test:            verdict.Test{ID: id, File: file, Status: verdict.TestSkipped},
		TestMeasurement: verdict.TestMeasurement{Message: "skipped as a whole: " + c.LongRepr.skipReason()},
		name:            c.NodeID,
	}
}

// byStages derives the status of a test with an outcome defined by a plugin, such as "subtests passed" or
// "rerun", from its stages. If all stages passed, the test may still have failed, since the outcome is
// that of its last subtest: it is unproven.
func (t *jsonTest) byStages() (status verdict.TestStatus, unproven bool) {
	status, unproven = verdict.TestError, true
	for _, s := range []*stage{t.Setup, t.Call, t.Teardown} {
		switch {
		case s == nil || s.failed() && s != t.Call:
			return verdict.TestError, false
		case s.failed():
			status, unproven = verdict.TestFailed, false
		case s.Outcome != "passed" && unproven:
			status, unproven = jsonStatuses[s.Outcome], false
		}
	}
	if status == "" {
		status = verdict.TestError
	}
	return status, unproven
}

func (s *stage) failed() bool { return s.Outcome == "failed" || s.Outcome == "error" }

// endedByLimit reports whether pytest-timeout failed the stage.
func (s *stage) endedByLimit() bool {
	return s.Crash != nil && strings.HasPrefix(strings.Replace(s.Crash.Message, "(", "", 1), "Failed: Timeout >")
}

func (s *stage) message() string {
	switch {
	case s.LongRepr != "":
		return string(s.LongRepr)
	case s.Crash != nil:
		return shorten(fmt.Sprintf("%s:%d\n%s", s.Crash.Path, s.Crash.Line, s.Crash.Message))
	}
	return ""
}

// ctrfTest contains the parts of a test in pytest-json-ctrf's output that are read here. Both spellings of
// the file's path are in use.
type ctrfTest struct {
	Name     string   `json:"name"`
	Status   string   `json:"status"`
	Duration float64  `json:"duration"` // milliseconds
	FilePath string   `json:"filePath"`
	File     string   `json:"file_path"`
	Tags     keywords `json:"tags"`
	Message  *string  `json:"message"`
}

// decodeCTRF decodes a report with at most most tests.
func decodeCTRF(content []byte, most int) (tests []reportedTest, err error) {
	d := json.NewDecoder(bytes.NewReader(content))
	err = eachField(d, func(key string) (bool, error) {
		if key != "results" {
			return false, nil
		}
		return true, eachField(d, func(key string) (bool, error) {
			if key != "tests" {
				return false, nil
			}
			return true, eachElement(d, func(t *ctrfTest) error {
				if len(tests) == most {
					return errTooManyTests
				}
				tests = append(tests, t.observed())
				return nil
			})
		})
	})
	if err = cmp.Or(err, atEnd(d)); err != nil {
		return nil, fmt.Errorf("ctrf-report.json is not a complete CTRF report: %w", err)
	}
	return tests, nil
}

func (t *ctrfTest) observed() reportedTest {
	o := reportedTest{
		Test: verdict.Test{ID: t.Name, File: t.FilePath}, TestMeasurement: verdict.TestMeasurement{DurationMS: t.Duration},
		name: t.Name, keywords: t.Tags,
	}
	if o.File == "" {
		o.File = t.File
	}
	if file, id, found := strings.Cut(t.Name, "::"); found && strings.HasSuffix(file, ".py") {
		o.ID = id
		if o.File == "" {
			o.File = file
		}
	}
	if t.Message != nil {
		o.Message = shorten(*t.Message)
	}
	switch t.Status {
	case "passed", "failed", "skipped":
		o.Status = verdict.TestStatus(t.Status)
	case "pending":
		o.Status = verdict.TestSkipped
	default:
		o.Status = verdict.TestError
	}
	return o
}
