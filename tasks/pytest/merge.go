package pytest

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// part is the outcome of a run of a part of a checkpoint's tests.
type part struct {
	file string // its test file, as in node ids
	runOutput
	reportContent
	class   verdict.Class
	message string // why it was not judged
}

func newPart(file string, l runOutput) part {
	p := part{file: file, runOutput: l, reportContent: readReports(l)}
	p.class, p.message = classify(p.runOutput, p.reportContent)
	return p
}

// mergedRun is the outcome that a single run of all tests would have had, derived from the parts.
type mergedRun struct {
	code      int // pytest's exit code
	class     verdict.Class
	message   string
	collected int
	tests     []pick         // in the order in which pytest collects
	skipped   []reportedTest // by collectors, in the same order
	usable    bool           // a trusted report would exist
}

// pick identifies a test by the index of its part, and its index in the part.
type pick struct{ part, test int }

// merge returns the result that a single run of all parts' tests would have had. pytest collects every
// file before it runs a test, so the first failure that it would have met decides, and results that it
// would not have reached do not count:
//
//   - a run that ended before its tests were collected, or before any of them
//     had run: nothing was run
//   - a file that could not be collected: nothing was run
//   - a run that ended before its time: tests up to there count, provided
//     that there is a report; a killed run leaves none
//
// Otherwise every test counts, and a run without tests for nothing, unless
// that is all of them. parts are in the order of their files, at least one.
func merge(parts []part) mergedRun {
	var w mergedRun
	for i := range parts {
		w.collected += parts[i].collected
		for _, t := range parts[i].skipped { // several parts can have the same directory
			if !slices.ContainsFunc(w.skipped, func(known reportedTest) bool { return known.name == t.name }) {
				w.skipped = append(w.skipped, t)
			}
		}
	}
	slices.SortStableFunc(w.skipped, func(a, b reportedTest) int { return comparePaths(a.File, b.File) })
	if i := slices.IndexFunc(parts, part.endedCollecting); i >= 0 {
		w.follow(&parts[i])
		w.collected = collectedBefore(parts, i)
		return w
	}
	if i := slices.IndexFunc(parts, part.ranNothing); i >= 0 {
		w.follow(&parts[i])
		return w
	}
	if i := slices.IndexFunc(parts, part.couldNotCollect); i >= 0 {
		w.follow(&parts[i])
		return w
	}
	w.tests = inOrder(parts)
	if i, reached := firstEnd(parts, w.tests); i >= 0 {
		w.follow(&parts[i])
		w.tests = w.tests[:reached]
		if !w.usable {
			w.tests = nil
		}
		return w
	}
	worst := slices.MaxFunc(parts, func(a, b part) int { return a.severity() - b.severity() })
	w.follow(&worst)
	w.code = exitCode(parts)
	if w.class == verdict.NoTests && len(w.skipped) > 0 {
		w.message = noTests(w.skipped)
	}
	return w
}

// follow uses the end of a part for the merged run.
func (w *mergedRun) follow(p *part) {
	w.code, w.class, w.usable, w.message = p.exit.Code, p.class, p.usable, p.message
	if named := p.class == verdict.CollectionError && p.collector != nil; w.message != "" && p.class != verdict.NoTests && !named {
		w.message = p.file + ": " + w.message
	}
}

// severity orders exit codes of complete runs; it is -1 for a run that ended earlier.
func (p part) severity() int {
	return slices.Index([]verdict.Class{verdict.NoTests, verdict.Judged, verdict.CollectionError}, p.class)
}

// exitCode returns the exit code of runs that ended.
func exitCode(parts []part) int {
	code := exitNoTests
	for i := range parts {
		switch parts[i].exit.Code {
		case exitTestsFailed:
			return exitTestsFailed
		case exitOK:
			code = exitOK
		}
	}
	return code
}

// endedCollecting reports whether the run ended before pytest had collected its tests, except for lack of
// tests.
func (p part) endedCollecting() bool {
	switch p.class {
	case verdict.Judged, verdict.NoTests:
		return false
	case verdict.CollectionError:
		return p.exit.Code > exitInterrupted // conftest.py, before any test file
	}
	return p.collected == 0
}

// collectedBefore counts the tests that pytest had collected when it ended in part p. pytest reports the
// number unless it was killed.
func collectedBefore(parts []part, p int) int {
	n := 0
	for i := range parts[:p] {
		if parts[p].counted {
			n += parts[i].collected
		}
	}
	return n
}

// ranNothing reports whether the run ended after collection and before the first test, for example because
// a hook for collected tests failed.
func (p part) ranNothing() bool {
	return p.severity() < 0 && p.usable && len(p.tests) == 0
}

// couldNotCollect reports whether an error in a test file prevented pytest from running tests. It returns
// false if pytest was told to continue.
func (p part) couldNotCollect() bool {
	return p.class == verdict.CollectionError && p.exit.Code == exitInterrupted
}

// firstEnd returns the first part in which pytest ended before all of its tests had run, and how many tests
// pytest had reached. Without such a part, first is -1.
func firstEnd(parts []part, tests []pick) (first, reached int) {
	first = -1
	for i := range parts {
		if parts[i].severity() >= 0 {
			continue
		}
		if n := before(parts, i, tests); first < 0 || n < reached {
			first, reached = i, n
		}
	}
	return first, reached
}

// before counts the tests up to the last test of a part or, if it has none, up to its position.
func before(parts []part, of int, tests []pick) int {
	n := 0
	for i, t := range tests {
		if t.part == of || len(parts[of].tests) == 0 && comparePaths(parts[t.part].fileOf(t.test), parts[of].file) < 0 {
			n = i + 1
		}
	}
	return n
}

// inOrder lists all tests in the order in which pytest 8 and later collect
// them: within a directory, files and directories by name.
func inOrder(parts []part) []pick {
	var all []pick
	for i := range parts {
		for j := range parts[i].tests {
			all = append(all, pick{part: i, test: j})
		}
	}
	slices.SortStableFunc(all, func(a, b pick) int {
		return comparePaths(parts[a.part].fileOf(a.test), parts[b.part].fileOf(b.test))
	})
	return all
}

func (p *part) fileOf(test int) string {
	if file := p.tests[test].File; file != "" {
		return file
	}
	return p.file
}

func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}
