package lang

import (
	"slices"
	"strings"
)

// Reasons why an argument affects separate runs of test files differently from a single run.
const (
	stopsEarly   = `with split = "file" each file is a separate run, which does not stop at failures in others`
	namesItsFile = `with split = "file" each run is of a single file`
	runsAnyway   = `with split = "file" every run would include it`
	hidesOptions = `with split = "file" some options are not allowed, and it could contain them`
)

// indivisible explains why an argument of pytest cannot be passed to a run of each test file, or returns "".
// previous is the argument before it.
func indivisible(arg, previous, directory string) string {
	name, _, _ := strings.Cut(arg, "=")
	switch {
	case hasFlag(arg, 'x'), slices.Contains([]string{"--exitfirst", "--maxfail", "--stepwise", "--sw", "--stepwise-skip", "--sw-skip"}, name):
		return stopsEarly
	case name == "--ignore", name == "--ignore-glob":
		return namesItsFile
	case strings.HasPrefix(arg, directory+"/") && previous != "--deselect":
		return runsAnyway
	case strings.HasPrefix(arg, "@"):
		return hidesOptions
	}
	switch overriddenSetting(arg, previous) {
	case "addopts":
		return hidesOptions
	case "python_files":
		return namesItsFile
	}
	return ""
}

// hasFlag reports whether an argument is a bundle of one-letter options, such as -vx, that includes the
// given one.
func hasFlag(arg string, flag byte) bool {
	const takeValue = "ckmnoprW" // the rest of the bundle is its value
	if len(arg) < 2 || arg[0] != '-' || arg[1] == '-' {
		return false
	}
	for i := 1; i < len(arg) && !strings.ContainsRune(takeValue, rune(arg[i])); i++ {
		if arg[i] == flag {
			return true
		}
	}
	return false
}

// overriddenSetting returns the name of the setting of pytest.ini that an argument overrides: -o NAME=VALUE,
// in one argument or two.
func overriddenSetting(arg, previous string) string {
	setting, ok := strings.CutPrefix(arg, "--override-ini=")
	if !ok {
		setting, ok = strings.CutPrefix(arg, "-o")
	}
	if previous == "-o" || previous == "--override-ini" {
		setting, ok = arg, true
	}
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(setting, "=")
	return strings.TrimSpace(name)
}
