package pytest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// jsonReport is what pytest-json-report writes, as far as it is read here.
type jsonReport struct {
	ExitCode   *int        `json:"exitcode"`
	Summary    jsonSummary `json:"summary"`
	Collectors []collector `json:"collectors"`
	Tests      []jsonTest  `json:"tests"`
}

type jsonSummary struct {
	Collected int `json:"collected"`
}

type collector struct {
	NodeID   string `json:"nodeid"`
	Outcome  string `json:"outcome"`
	LongRepr any    `json:"longrepr"`
}

type jsonTest struct {
	NodeID   string   `json:"nodeid"`
	Outcome  string   `json:"outcome"`
	Keywords []string `json:"keywords"`
	Setup    *stage   `json:"setup"`
	Call     *stage   `json:"call"`
	Teardown *stage   `json:"teardown"`
}

type stage struct {
	Duration float64 `json:"duration"` // seconds
	Outcome  string  `json:"outcome"`
	Crash    *crash  `json:"crash"`
	LongRepr any     `json:"longrepr"`
}

type crash struct {
	Path    string `json:"path"`
	Line    int    `json:"lineno"`
	Message string `json:"message"`
}

func decodeJSONReport(content []byte) (*jsonReport, error) {
	var r jsonReport
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("pytest-report.json is not a whole JSON report: %w", err)
	}
	return &r, nil
}

// jsonStatuses maps pytest's outcomes. An expected failure counts as skipped:
// it shows nothing about the submission; an unexpected pass as passed.
var jsonStatuses = map[string]verdict.TestStatus{
	"passed":  verdict.TestPassed,
	"failed":  verdict.TestFailed,
	"skipped": verdict.TestSkipped,
	"error":   verdict.TestError,
	"xfailed": verdict.TestSkipped,
	"xpassed": verdict.TestPassed,
}

func (t *jsonTest) observed() observed {
	file, id, found := strings.Cut(t.NodeID, "::")
	if !found {
		file, id = "", t.NodeID
	}
	status, known := jsonStatuses[t.Outcome]
	if !known {
		status = verdict.TestError
	}
	o := observed{file: file, id: id, status: status, keywords: t.Keywords}
	if status == verdict.TestPassed && (t.Call == nil || t.Teardown == nil) {
		// The report says "passed" until a phase says otherwise, so a test that
		// an interrupt cut off looks like one.
		o.status, o.message = verdict.TestError, "the test did not run to its end"
	}
	for _, s := range []*stage{t.Setup, t.Call, t.Teardown} {
		if s != nil {
			o.durationMS += s.Duration * 1000
		}
	}
	// The call's own failure tells most.
	for _, s := range []*stage{t.Call, t.Setup, t.Teardown} {
		if s != nil && (s.Outcome == "failed" || s.Outcome == "error") {
			o.message = s.message()
			break
		}
	}
	return o
}

func (s *stage) message() string {
	switch text := s.LongRepr.(type) {
	case nil:
	case string:
		if text != "" {
			return text
		}
	default:
		if encoded, err := json.MarshalIndent(text, "", "  "); err == nil {
			return string(encoded)
		}
	}
	if s.Crash != nil {
		return fmt.Sprintf("%s:%d\n%s", s.Crash.Path, s.Crash.Line, s.Crash.Message)
	}
	return ""
}

// ctrfReport is what pytest-json-ctrf writes, as far as it is read here. Both
// spellings of the file's path are in use.
type ctrfReport struct {
	Results struct {
		Tests []ctrfTest `json:"tests"`
	} `json:"results"`
}

type ctrfTest struct {
	Name     string   `json:"name"`
	Status   string   `json:"status"`
	Duration float64  `json:"duration"` // milliseconds
	FilePath string   `json:"filePath"`
	File     string   `json:"file_path"`
	Tags     []string `json:"tags"`
	Message  *string  `json:"message"`
}

func decodeCTRF(content []byte) (*ctrfReport, error) {
	var r ctrfReport
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("ctrf-report.json is not a whole CTRF report: %w", err)
	}
	return &r, nil
}

func (t *ctrfTest) observed() observed {
	o := observed{file: t.FilePath, id: t.Name, keywords: t.Tags, durationMS: t.Duration}
	if o.file == "" {
		o.file = t.File
	}
	if file, id, found := strings.Cut(t.Name, "::"); found && strings.HasSuffix(file, ".py") {
		o.id = id
		if o.file == "" {
			o.file = file
		}
	}
	if t.Message != nil {
		o.message = *t.Message
	}
	switch t.Status {
	case "passed", "failed", "skipped":
		o.status = verdict.TestStatus(t.Status)
	case "pending":
		o.status = verdict.TestSkipped
	default:
		o.status = verdict.TestError
	}
	return o
}
