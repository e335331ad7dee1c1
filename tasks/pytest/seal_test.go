package pytest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// TestSeal: a report of any process other than pytest's own does not count.
func TestSeal(t *testing.T) {
	rewrite := func(name, old, other string) func(*bench, *fake.Call, []byte) {
		return func(s *bench, c *fake.Call, key []byte) {
			s.seal(c, key)
			content, _ := c.Files.Read(name)
			c.Files.Write(name, bytes.ReplaceAll(content, []byte(old), []byte(other)))
		}
	}
	for _, test := range []struct {
		name    string
		tamper  func(s *bench, c *fake.Call, key []byte)
		trouble string // "" is a report that counts
	}{
		{"honest", func(*bench, *fake.Call, []byte) {}, ""},
		{"another test", rewrite(jsonReportPath, "::t", "::u"), "pytest-report.json as found"},
		{"longer by white space", rewrite(jsonReportPath, "{", " {"), "pytest-report.json as found"},
		{"the other report", rewrite(ctrfPath, "passed", "failed"), "ctrf-report.json as found"},
		{"the other report is gone", func(s *bench, c *fake.Call, key []byte) {
			s.seal(c, key)
			c.Files.Remove(ctrfPath)
		}, "ctrf-report.json as found"},
		{"none", func(_ *bench, c *fake.Call, _ []byte) { c.Files.Write(sealPath, nil) }, "pytest-report.json and ctrf-report.json as found"},
		{"another key", func(s *bench, c *fake.Call, _ []byte) { s.seal(c, []byte("guessed")) }, "pytest-report.json and ctrf-report.json as found"},
		{"no JSON", func(_ *bench, c *fake.Call, key []byte) {
			c.Files.Write(sealPath, sealWith(key, nil)[:70])
		}, "pytest-report.json and ctrf-report.json as found"},
		{"a link", func(_ *bench, c *fake.Call, key []byte) {
			c.Files.Write("elsewhere", sealWith(key, nil))
			c.Files.Symlink("../elsewhere", sealPath)
		}, "pytest-report.json and ctrf-report.json as found"},
	} {
		s := newBench(t)
		s.tests = func(c *fake.Call) (backend.Exit, error) {
			exit, err := passing(c)
			test.tamper(s, c, s.lastKey)
			return exit, err
		}
		st, outputs := s.execute()
		if st.State != event.Done {
			t.Errorf("%s: %s: %s", test.name, st.State, st.Message)
		}
		class, message := s.judged(outputs)
		if test.trouble == "" && class != verdict.Judged || test.trouble != "" && (class != verdict.NoReport || !strings.Contains(message, test.trouble)) {
			t.Errorf("%s: %s: %s", test.name, class, message)
		}
		if test.trouble != "" && (outputs[OutputReport] != "" || outputs[OutputCTRF] != "") {
			t.Errorf("%s: a report was kept", test.name)
		}
	}
}

// TestSealedEnd: only a report proves that there were no tests, not the exit code, since other programs can change that
// of a process.
func TestSealedEnd(t *testing.T) {
	for _, sealed := range []bool{true, false} {
		s := newBench(t)
		s.tests = func(c *fake.Call) (backend.Exit, error) {
			if sealed {
				c.Files.Write(jsonReportPath, encodeJSON(exitNoTests))
			}
			return backend.Exit{Code: exitNoTests}, nil
		}
		_, outputs := s.execute()
		if class, message := s.judged(outputs); (class == verdict.NoTests) != sealed || !sealed && class != verdict.PytestFailed {
			t.Errorf("sealed %v: %s: %s", sealed, class, message)
		}
	}
}

// judged classifies the results of a run.
func (s *bench) judged(outputs map[string]string) (verdict.Class, string) {
	l := runOutput{log: []byte(outputs[OutputLog])}
	if err := json.Unmarshal([]byte(outputs[OutputExit]), &l.exit); err != nil {
		s.t.Fatal(err)
	}
	for name, content := range map[string]*[]byte{OutputReport: &l.report, OutputCTRF: &l.ctrf} {
		if text, ok := outputs[name]; ok {
			*content = []byte(text)
		}
	}
	return classify(l, readReports(l))
}

// The plugin's path is added to the environment's PYTHONPATH. In a container that is the image's, which only a shell
// there can extend; elsewhere the backend resolves uvx, which a shell can fail to find.
func TestSealedCommand(t *testing.T) {
	s := newBench(t)
	argv, env := s.run.sealedCommand(pytestLocation{}, "/w", []string{"A=1", "PYTHONPATH=/theirs", "B=2"})
	if argv[0] != "uvx" || !slices.Equal(env, []string{"A=1", "B=2", "PYTHONPATH=/w/" + pluginDir + ":/theirs"}) {
		t.Errorf("starts %s with %q", argv[0], env)
	}
	s.box.Can.OwnFiles = true
	argv, env = s.run.sealedCommand(pytestLocation{}, "/w", []string{"A=1"})
	if argv[0] != "/bin/sh" || !slices.Equal(env, []string{"A=1"}) {
		t.Errorf("in a container it starts %s with %q", argv[0], env)
	}
}
