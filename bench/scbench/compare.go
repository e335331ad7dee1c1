package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// evaluation holds the compared parts of an evaluation.json.
type evaluation struct {
	Tests          buckets        `json:"tests"`
	PassCounts     map[string]int `json:"pass_counts"`
	TotalCounts    map[string]int `json:"total_counts"`
	ExitCode       int            `json:"pytest_exit_code"`
	Collected      int            `json:"pytest_collected"`
	Infrastructure bool           `json:"infrastructure_failure"`
	Entrypoint     string         `json:"entrypoint"`
}

// buckets holds the tests by checkpoint and group, in the order of the file.
type buckets struct {
	order []string
	tests map[string]bucket
}

type bucket struct {
	Passed []string `json:"passed"`
	Failed []string `json:"failed"`
}

// UnmarshalJSON keeps the order of keys, which is part of the format.
func (b *buckets) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &b.tests); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // the opening brace
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		b.order = append(b.order, fmt.Sprint(key))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// comparison is the result of comparing two trees.
type comparison struct {
	checkpoints  int // number of compared checkpoints
	tests        int // number of their tests in the first tree
	onlyA, onlyB []string
	cells        []difference
}

// difference is a checkpoint that differs between the trees.
type difference struct {
	name  string
	lines []string
}

func (c *comparison) differs() bool { return len(c.cells)+len(c.onlyA)+len(c.onlyB) > 0 }

func compareTrees(a, b string) (*comparison, error) {
	inA, err := checkpoints(a)
	if err != nil {
		return nil, err
	}
	inB, err := checkpoints(b)
	if err != nil {
		return nil, err
	}
	c := &comparison{}
	for _, name := range inA {
		if !slices.Contains(inB, name) {
			c.onlyA = append(c.onlyA, name)
			continue
		}
		ea, err := read(a, name)
		if err != nil {
			return nil, err
		}
		eb, err := read(b, name)
		if err != nil {
			return nil, err
		}
		c.checkpoints++
		for _, bucket := range ea.Tests.tests {
			c.tests += len(bucket.Passed) + len(bucket.Failed)
		}
		if lines := compare(ea, eb); len(lines) > 0 {
			c.cells = append(c.cells, difference{name, lines})
		}
	}
	for _, name := range inB {
		if !slices.Contains(inA, name) {
			c.onlyB = append(c.onlyB, name)
		}
	}
	return c, nil
}

// checkpoints returns the sorted <problem>/<checkpoint> of a tree.
func checkpoints(tree string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(tree, "*", "*", "evaluation.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no <problem>/<checkpoint>/evaluation.json", tree)
	}
	var names []string
	for _, f := range files {
		rel, err := filepath.Rel(tree, filepath.Dir(f))
		if err != nil {
			return nil, err
		}
		names = append(names, filepath.ToSlash(rel))
	}
	slices.Sort(names)
	return names, nil
}

func read(tree, name string) (*evaluation, error) {
	path := filepath.Join(tree, filepath.FromSlash(name), "evaluation.json")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var e evaluation
	if err := json.Unmarshal(content, &e); err != nil {
		return nil, errors.Join(fmt.Errorf("reading %s", path), err)
	}
	return &e, nil
}

// compare lists the differences between two evaluations of a checkpoint.
func compare(a, b *evaluation) []string {
	var lines []string
	note := func(what string, va, vb any) {
		if x, y := fmt.Sprint(va), fmt.Sprint(vb); x != y {
			lines = append(lines, fmt.Sprintf("%s: %s, %s", what, x, y))
		}
	}
	note("exit code", a.ExitCode, b.ExitCode)
	note("collected", a.Collected, b.Collected)
	note("infrastructure failure", a.Infrastructure, b.Infrastructure)
	note("entrypoint", a.Entrypoint, b.Entrypoint)
	note("pass counts", a.PassCounts, b.PassCounts) // fmt sorts maps
	note("total counts", a.TotalCounts, b.TotalCounts)
	note("order of buckets", a.Tests.order, b.Tests.order)
	names := slices.Sorted(maps.Keys(a.Tests.tests))
	for name := range b.Tests.tests {
		if _, both := a.Tests.tests[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		lines = append(lines, compareBuckets(name, a.Tests.tests[name], b.Tests.tests[name])...)
	}
	return lines
}

func compareBuckets(name string, a, b bucket) []string {
	var lines []string
	va, vb := verdicts(a), verdicts(b)
	ids := slices.Sorted(maps.Keys(va))
	for id := range vb {
		if _, both := va[id]; !both {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		if va[id] != vb[id] {
			lines = append(lines, fmt.Sprintf("%s %s: %s, %s", name, id, orNone(va[id]), orNone(vb[id])))
		}
	}
	if len(lines) == 0 && (!slices.Equal(a.Passed, b.Passed) || !slices.Equal(a.Failed, b.Failed)) {
		lines = append(lines, name+": the same tests in another order")
	}
	return lines
}

// verdicts counts how often each id passed and failed: ids can repeat.
func verdicts(b bucket) map[string]string {
	v := map[string]string{}
	for _, id := range b.Passed {
		v[id] += "passed "
	}
	for _, id := range b.Failed {
		v[id] += "failed "
	}
	for id := range v {
		v[id] = strings.TrimSpace(v[id])
	}
	return v
}

func orNone(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

func (c *comparison) write(w io.Writer, a, b string) {
	for _, d := range c.cells {
		fmt.Fprintf(w, "%s differs\n", d.name)
		for _, line := range d.lines {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, name := range c.onlyA {
		fmt.Fprintf(w, "%s is only in %s\n", name, a)
	}
	for _, name := range c.onlyB {
		fmt.Fprintf(w, "%s is only in %s\n", name, b)
	}
	fmt.Fprintf(w, "%d checkpoints with %d tests compared: %d differ\n", c.checkpoints, c.tests, len(c.cells))
}
