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
	remove := func(name string) func(*bench, *fake.Call, []byte) {
		return func(s *bench, c *fake.Call, key []byte) {
			s.seal(c, key)
			c.Files.Remove(name)
		}
	}
	all := []string{OutputStages, OutputReport, OutputCTRF}
	for _, test := range []struct {
		name   string
		tamper func(s *bench, c *fake.Call, key []byte)
		kept   []string
	}{
		{"honest", func(*bench, *fake.Call, []byte) {}, all},
		{"another test", rewrite(stagesPath, "::t", "::u"), all[1:]},
		{"longer by white space", rewrite(stagesPath, "{", " {"), all[1:]},
		{"removed", remove(stagesPath), all[1:]},
		{"an artifact", rewrite(jsonReportPath, "tests", "others"), []string{OutputStages, OutputCTRF}},
		{"an artifact removed", remove(ctrfPath), all[:2]},
		{"another report's", func(s *bench, c *fake.Call, key []byte) {
			c.Files.Write(jsonReportPath, encode(0))
			s.seal(c, key)
			c.Files.Write(stagesPath, encode(0))
			seal, _ := c.Files.Read(sealPath)
			c.Files.Write(sealPath, bytes.ReplaceAll(bytes.ReplaceAll(seal, []byte("stages"), []byte("x")), []byte("pytest-report.json"), []byte("stages")))
		}, all[2:]},
		{"none", func(_ *bench, c *fake.Call, _ []byte) { c.Files.Write(sealPath, nil) }, nil},
		{"another key", func(s *bench, c *fake.Call, _ []byte) { s.seal(c, []byte("guessed")) }, nil},
		{"no JSON", func(s *bench, c *fake.Call, key []byte) {
			s.seal(c, key)
			seal, _ := c.Files.Read(sealPath)
			c.Files.Write(sealPath, seal[:100])
		}, nil},
		{"too large", func(_ *bench, c *fake.Call, _ []byte) { c.Files.Write(sealPath, make([]byte, 5<<10)) }, nil},
		{"a link", func(s *bench, c *fake.Call, key []byte) {
			s.seal(c, key)
			seal, _ := c.Files.Read(sealPath)
			c.Files.Write("elsewhere", seal)
			c.Files.Remove(sealPath)
			c.Files.Symlink("../elsewhere", sealPath)
		}, nil},
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
		for _, name := range all {
			if kept := outputs[name] != ""; kept != slices.Contains(test.kept, name) {
				t.Errorf("%s: %s is kept: %t", test.name, name, kept)
			}
		}
		class, message := s.judged(outputs)
		if judged := slices.Contains(test.kept, OutputStages); judged != (class == verdict.Judged) || !judged && !strings.Contains(message, errUnsealed.Error()) {
			t.Errorf("%s: %s: %s", test.name, class, message)
		}
	}
}

// A large report does not count, even if it is pytest's.
func TestLargeReport(t *testing.T) {
	s := newBench(t)
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		c.Files.Write(stagesPath, append(bytes.Repeat([]byte("{}\n"), maxReport/3), encode(0)...))
		return backend.Exit{}, nil
	}
	_, outputs := s.execute()
	if class, message := s.judged(outputs); class != verdict.NoReport || !strings.Contains(message, "it is larger than 16 MiB") || outputs[OutputStages] != "" {
		t.Errorf("%s: %s", class, message)
	}
}

// TestSealedEnd: only a report proves that there were no tests, not the exit code, since other programs can change that
// of a process.
func TestSealedEnd(t *testing.T) {
	for _, sealed := range []bool{true, false} {
		s := newBench(t)
		s.tests = func(c *fake.Call) (backend.Exit, error) {
			if sealed {
				c.Files.Write(stagesPath, encode(exitNoTests))
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
	if stages, ok := outputs[OutputStages]; ok {
		l.stages = []byte(stages)
	}
	return classify(l, readReport(l))
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
