package lang

import (
	"slices"
	"strings"
	"testing"
)

func TestImported(t *testing.T) {
	for line, want := range map[string]string{
		"import test_a\n":                      "test_a",
		"    import os, test_a as a # comment": "os test_a",
		"import tests.test_a":                  "test_a",
		"from test_a import helper":            "test_a",
		"from .test_a import helper":           "test_a",
		"from tests.test_a import (":           "test_a",
		"from . import test_a as a, test_b":    "test_a test_b",
		"from . import (test_a, test_b)":       "test_a test_b",
		"from .. import test_a":                "test_a",
		"from helpers import test_a":           "helpers",
		"# import test_a":                      "",
		"important = test_a":                   "",
		"from test_a":                          "",
		"import":                               "",
		"import ":                              "",
		"import , ":                            "",
		"assert 'import test_a'":               "",
	} {
		if got := imported(line); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q imports %q, want %q", line, got, want)
		}
	}
}

func TestIndivisible(t *testing.T) {
	for args, want := range map[string]string{
		"-x": stopsEarly, "-vx": stopsEarly, "-xv": stopsEarly, "-sx": stopsEarly, "--exitfirst": stopsEarly,
		"--maxfail=3": stopsEarly, "--maxfail 3": stopsEarly, "--stepwise": stopsEarly, "--sw": stopsEarly, "--sw-skip": stopsEarly,
		"--ignore=tests/test_a.py": namesItsFile, "--ignore-glob *": namesItsFile,
		"-o python_files=check_*.py": namesItsFile, "-opython_files=x": namesItsFile, "--override-ini=python_files=x": namesItsFile, "--override-ini python_files=x": namesItsFile,
		"-o addopts=-x": hidesOptions, "@more.txt": hidesOptions,
		"tests/test_a.py": runsAnyway, "-v tests/sub": runsAnyway,

		"": "", "-v": "", "-rx": "", "-kx": "", "-k x": "", "-mx": "", "-px": "", "-Wx": "", "-n2": "", "-vrx": "", "--tb=short": "", "--x": "", "-": "",
		"--deselect tests/test_a.py::x": "", "--deselect=tests/test_a.py::x": "", "-o log_cli=true": "", "--override-ini=log_cli=1": "", "testsuite": "",
		"-m not(slow)": "", "--continue-on-collection-errors": "",
	} {
		got, previous := "", ""
		for _, arg := range strings.Fields(args) {
			if got == "" {
				got = indivisible(arg, previous, "tests")
			}
			previous = arg
		}
		if got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}
