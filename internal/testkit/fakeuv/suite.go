package fakeuv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// test is a test of a suite.
type test struct {
	dir, file, name string
	status          string // passed, failed, skipped or error
	markers         []string
}

func (t test) id() string { return filepath.Join(t.dir, t.file) + "::" + t.name }

// suite is the content of a test directory.
type suite struct {
	tests        []test
	directives   []Directive
	collectError bool
}

// readSuite reads what pytest would run in a directory.
func readSuite(dir string) (*suite, error) {
	s := &suite{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() != "conftest.py" && !isCollected(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(content)) {
			if err := s.readLine(dir, e.Name(), strings.TrimSpace(line)); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// isCollected reports whether pytest runs the tests of a file.
func isCollected(name string) bool {
	return strings.HasSuffix(name, ".py") && (strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py"))
}

func (s *suite) readLine(dir, file, line string) error {
	if text, ok := strings.CutPrefix(line, "# fake-session: "); ok {
		if text == "collect-error" {
			s.collectError = true
		}
		s.directives = append(s.directives, Directive(text))
		return nil
	}
	text, ok := strings.CutPrefix(line, "# fake: ")
	if !ok {
		return nil
	}
	words := strings.Fields(text)
	if len(words) < 2 {
		return fmt.Errorf("%s: %q: want a name and a status", file, line)
	}
	s.tests = append(s.tests, test{dir: dir, file: file, name: words[0], status: statusOf(words[1]), markers: words[2:]})
	return nil
}

// statusOf returns the status itself or, for FILE~TEXT, a status that depends on the content of a file in the
// workspace.
func statusOf(word string) string {
	file, text, ok := strings.Cut(word, "~")
	if !ok {
		return word
	}
	content, err := os.ReadFile(file)
	if err == nil && strings.Contains(string(content), strings.ReplaceAll(text, ".", " ")) {
		return "passed"
	}
	return "failed"
}

func (s *suite) exitCode() int {
	if s.collectError {
		return exitInterrupted
	}
	if len(s.tests) == 0 {
		return exitNoTests
	}
	for _, t := range s.tests {
		if t.status == "failed" || t.status == "error" {
			return exitFailed
		}
	}
	return exitPassed
}

// lastLine returns pytest's summary of the run.
func (s *suite) lastLine() string {
	var counts []string
	for _, status := range []string{"failed", "passed", "skipped", "error"} {
		if n := s.count(status); n > 0 && !s.collectError {
			counts = append(counts, fmt.Sprintf("%d %s", n, status))
		}
	}
	switch {
	case s.collectError:
		counts = []string{"1 error"}
	case len(counts) == 0:
		counts = []string{"no tests ran"}
	}
	return fmt.Sprintf("=============== %s in 0.01s ===============", strings.Join(counts, ", "))
}

func (s *suite) count(status string) int {
	n := 0
	for _, t := range s.tests {
		if t.status == status {
			n++
		}
	}
	return n
}
