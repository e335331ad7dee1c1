package fakeuv

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reportFiles specifies the reports to write.
type reportFiles struct {
	json, ctrf string // paths; "" means no report
	half, none bool
	fill       int    // bytes of empty tests for the JSON report
	passed     string // name of a test that is reported as passed
	key        []byte // key of the seal
}

func (r *reportFiles) write(s *suite, code int) error {
	if r.none {
		return nil
	}
	told := &suite{tests: slices.Clone(s.tests), collectError: s.collectError}
	for i := range told.tests {
		if told.tests[i].name == r.passed {
			told.tests[i].status = "passed"
		}
	}
	whole := told.jsonReport(code)
	if r.fill > 0 {
		whole["tests"] = json.RawMessage("[" + strings.Repeat("{},", r.fill/len("{},")) + "{}]")
	}
	sealed := object{}
	for _, f := range []struct {
		path    string
		content any
	}{{r.json, whole}, {r.ctrf, told.ctrf()}} {
		if f.path == "" {
			continue
		}
		content, err := json.Marshal(f.content)
		if err != nil {
			return err
		}
		if r.half {
			content = content[:len(content)/2]
		}
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(f.path, content, 0o644); err != nil {
			return err
		}
		sealed[filepath.Base(f.path)] = object{"size": len(content), "sha256": fmt.Sprintf("%x", sha256.Sum256(content))}
	}
	return r.seal(sealed)
}

// takeKey reads and removes the key with which reports are sealed, like the plugin that fevalgraph loads into
// pytest.
func (r *reportFiles) takeKey() error {
	path := filepath.Join(filepath.Dir(r.json), "key")
	var err error
	if r.key, err = os.ReadFile(path); err != nil {
		return err
	}
	return os.Remove(path)
}

func (r *reportFiles) seal(reports object) error {
	text, err := json.Marshal(reports)
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, r.key)
	mac.Write(text)
	return os.WriteFile(filepath.Join(filepath.Dir(r.json), "seal"), fmt.Appendf(nil, "%x %s", mac.Sum(nil), text), 0o644)
}

// object is a JSON object.
type object map[string]any

// jsonReport returns the report of pytest-json-report.
func (s *suite) jsonReport(code int) object {
	tests, collectors := []object{}, []object{}
	for _, t := range s.tests {
		call := object{"duration": 0.001, "outcome": t.status}
		if t.status == "failed" || t.status == "error" {
			call["longrepr"] = "E   AssertionError: " + t.name
		}
		around := object{"duration": 0.0001, "outcome": "passed"}
		tests = append(tests, object{"nodeid": t.id(), "outcome": t.status,
			"keywords": slices.Concat([]string{t.name}, t.markers, []string{t.file, t.dir, ""}),
			"setup":    around, "call": call, "teardown": around})
	}
	if s.collectError {
		tests = tests[:0]
		collectors = append(collectors, object{"nodeid": "tests/test.py", "outcome": "failed", "longrepr": "E   SyntaxError: invalid syntax"})
	}
	return object{"created": 0, "duration": 0.01, "exitcode": code, "root": "/",
		"summary": object{"collected": len(tests), "total": len(tests)}, "collectors": collectors, "tests": tests}
}

// ctrf returns the report of pytest-json-ctrf.
func (s *suite) ctrf() object {
	tests := []object{}
	for _, t := range s.tests {
		status := t.status
		if status == "error" {
			status = "failed"
		}
		tests = append(tests, object{"name": t.id(), "status": status, "duration": 1, "filePath": filepath.Join(t.dir, t.file), "tags": t.markers})
	}
	if s.collectError {
		tests = tests[:0]
	}
	return object{"results": object{
		"tool":    object{"name": "pytest"},
		"summary": object{"tests": len(tests), "passed": s.count("passed"), "failed": s.count("failed"), "skipped": s.count("skipped")},
		"tests":   tests,
	}}
}
