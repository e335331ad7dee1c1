package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every format that lists checkpoints names the same ones as not passed.
func TestFormatsAgree(t *testing.T) {
	for name, r := range map[string]*Results{"mixed": mixed(), "scored": scored(), "many": many(9), "states": states(), "none": {Run: "none"}} {
		want := map[string]bool{}
		for _, row := range rowsOf(r) {
			if now := row.checkpoint.Current(); !solved(&now) {
				want[rowName(row, true)] = true
			}
		}
		for format, read := range unsolvedIn {
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(read(t, render(t, format, r, Options{}))))); diff != "" {
				t.Errorf("%s: %s names others as not passed:\n%s", name, format, diff)
			}
		}
	}
}

// unsolvedIn reads the checkpoints that did not pass from the formats that list all.
var unsolvedIn = map[string]func(t *testing.T, text []byte) map[string]bool{
	"json": func(t *testing.T, text []byte) map[string]bool {
		r, err := Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for i := range r.Cells {
			for _, c := range r.Cells[i].Listed() {
				names[rowName(row{cell: &r.Cells[i], checkpoint: &c}, true)] = !c.Passed || c.State != ""
			}
		}
		return unsolved(names)
	},
	"jsonl": func(t *testing.T, text []byte) map[string]bool {
		names := map[string]bool{}
		for line := range bytes.Lines(text) {
			var l JSONLine
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			c := l.Checkpoint
			if c == nil {
				c = &Checkpoint{}
			}
			names[rowName(row{cell: &l.Cell, checkpoint: c}, true)] = !c.Passed || c.State != ""
		}
		return unsolved(names)
	},
	"csv": func(t *testing.T, text []byte) map[string]bool {
		records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := func(record []string, name string) string { return record[slices.Index(records[0], name)] }
		names := map[string]bool{}
		for _, record := range records[1:] {
			cell := Cell{Problem: column(record, "problem"), Solution: column(record, "solution"), Backend: column(record, "backend"), Repeat: 1}
			if err := json.Unmarshal([]byte(column(record, "repeat")), &cell.Repeat); err != nil {
				t.Fatal(err)
			}
			names[rowName(row{cell: &cell, checkpoint: &Checkpoint{Name: column(record, "checkpoint")}}, true)] = column(record, "passed") != "true" || column(record, "state") != ""
		}
		return unsolved(names)
	},
	"junit": func(t *testing.T, text []byte) map[string]bool {
		var report junitReport
		if err := xml.Unmarshal(text, &report); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, suite := range report.Suites {
			cell := Cell{Repeat: 1}
			for _, p := range suite.Properties {
				switch p.Name {
				case "problem":
					cell.Problem = p.Value
				case "solution":
					cell.Solution = p.Value
				case "backend":
					cell.Backend = p.Value
				case "repeat":
					if err := json.Unmarshal([]byte(p.Value), &cell.Repeat); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, c := range suite.Cases {
				checkpoint := c.Name
				if len(suite.Cases) == 1 && !strings.Contains(c.Name, "checkpoint") { // the case is the cell
					checkpoint = ""
				}
				names[rowName(row{cell: &cell, checkpoint: &Checkpoint{Name: checkpoint}}, true)] = c.Failure != nil || c.Error != nil || c.Skipped != nil
			}
		}
		return unsolved(names)
	},
	"gitlab": func(t *testing.T, text []byte) map[string]bool {
		var issues []gitlabIssue
		if err := json.Unmarshal(text, &issues); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, issue := range issues {
			name, _, _ := strings.Cut(issue.Description, ": ")
			names[name] = true
		}
		return names
	},
	"github": func(t *testing.T, text []byte) map[string]bool {
		names := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "- ") {
				_, rest, _ := strings.Cut(line, "`")
				name, _, _ := strings.Cut(rest, "`")
				names[name] = true
			}
		}
		return names
	},
}

// unsolved keeps what did not pass.
func unsolved(names map[string]bool) map[string]bool {
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return names
}
