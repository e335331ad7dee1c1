package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func render(t *testing.T, format string, r *Results, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFormatsGolden(t *testing.T) {
	start := time.UnixMilli(1767323045000)
	for _, format := range Formats() {
		golden(t, "mixed."+format, render(t, format, mixed(), Options{Start: start, Stop: start.Add(90 * time.Second)}))
		golden(t, "empty."+format, render(t, format, &Results{Run: "none"}, Options{}))
	}
	for _, format := range []string{"table", "json", "csv", "markdown", "junit", "junit-tests", "ctrf"} {
		golden(t, "scored."+format, render(t, format, scored(), Options{}))
	}
	golden(t, "mixed.color.table", render(t, "table", mixed(), Options{Page: text.Page{Color: true}}))
	golden(t, "mixed.narrow.table", render(t, "table", mixed(), Options{Page: text.Page{Width: 120}}))
	golden(t, "scored.narrow.table", render(t, "table", scored(), Options{Page: text.Page{Width: 80}}))
	golden(t, "mixed.failures-first.table", render(t, "table", mixed(), Options{FailuresFirst: true}))
	golden(t, "many.table", render(t, "table", many(16), Options{}))
	golden(t, "many.verbose.table", render(t, "table", many(16), Options{Verbose: true}))
	golden(t, "many.markdown", render(t, "markdown", many(16), Options{}))
}

func TestUnknownFormatListsTheKnown(t *testing.T) {
	err := Write(io.Discard, "jnuit", mixed(), Options{})
	if err == nil || !strings.Contains(err.Error(), `did you mean "junit"?`) || !strings.Contains(err.Error(), "table, json, jsonl, csv, markdown, junit, junit-tests, ctrf, github, gitlab") {
		t.Errorf("error %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteReportsTheWritersError(t *testing.T) {
	for _, format := range Formats() {
		if err := Write(fullDisk{}, format, mixed(), Options{}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v", format, err)
		}
	}
}

// For any output of tests, each format stays readable for its readers, and a terminal receives no control character.
func TestNastyContentStaysInside(t *testing.T) {
	for _, message := range []string{nasty, megabyte(), "\x1b]0;title\a", strings.Repeat("\n", 1000), "\xff\xfe", `=cmd|' /C calc'!A0`} {
		r := mixed()
		cell := &r.Cells[1]
		c := &cell.Checkpoints[0]
		c.Tests[1].Message = &message
		if len(message) < 1<<20 {
			cell.Solution, cell.Message = message, &message
			c.Tests[1].ID, c.Tests[1].File = message, message
		}
		for _, format := range Formats() {
			out := render(t, format, r, Options{Page: text.Page{Width: 100}})
			if !utf8.Valid(out) {
				t.Errorf("%s: not UTF-8", format)
			}
			switch format {
			case "table", "markdown":
				if i := bytes.IndexAny(out, "\x00\x1b\r\u202e"); i >= 0 {
					t.Errorf("%s: control character at %d", format, i)
				}
			case "json":
				if _, err := Decode(bytes.NewReader(out)); err != nil {
					t.Error(err)
				}
			case "jsonl", "ctrf":
				for line := range bytes.Lines(out) {
					if !json.Valid(line) {
						t.Errorf("%s: not JSON: %.100q", format, line)
					}
				}
			case "csv":
				records, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				if len(records) != 1+8+4 { // header, tests, checkpoints without any
					t.Errorf("csv: %d records", len(records))
				}
			case "junit", "junit-tests":
				if err := xml.Unmarshal(out, new(junitReport)); err != nil {
					t.Error(err)
				}
				if bytes.ContainsAny(out, "\x00\x1b\x07") {
					t.Error("junit: a character that XML 1.0 forbids")
				}
			}
		}
	}
}

// No format may look better than the results: every broken, errored, skipped and failed checkpoint must not look like a
// pass.
func TestNoFormatHidesWhatWasNotJudged(t *testing.T) {
	r := mixed()
	s := Summarize(r, nil)
	bad := s.Failed + s.NotJudged

	var junit junitReport
	if err := xml.Unmarshal(render(t, "junit", r, Options{}), &junit); err != nil {
		t.Fatal(err)
	}
	if got := junit.Failures + junit.Errors + junit.Skipped; got != bad || junit.Tests != s.Checkpoints {
		t.Errorf("junit: %d of %d cases are not green, want %d of %d", got, junit.Tests, bad, s.Checkpoints)
	}
	junit = junitReport{}
	if err := xml.Unmarshal(render(t, "junit-tests", r, Options{}), &junit); err != nil {
		t.Fatal(err)
	}
	notGreen := 0
	for _, suite := range junit.Suites {
		if suite.Failures+suite.Errors > 0 || suite.Skipped == suite.Tests {
			notGreen++
		}
	}
	if notGreen != bad {
		t.Errorf("junit: %d suites are not green, want %d", notGreen, bad)
	}

	var ctrf ctrfReport
	if err := json.Unmarshal(render(t, "ctrf", r, Options{}), &ctrf); err != nil {
		t.Fatal(err)
	}
	red := map[string]bool{}
	for _, test := range ctrf.Results.Tests {
		if test.Status == "failed" || test.Status == "other" || test.Status == "skipped" && test.FilePath == "" {
			red[test.Suite[0]] = true
		}
	}
	if len(red) != bad {
		t.Errorf("ctrf: %d suites are not green, want %d: %v", len(red), bad, red)
	}
	if sum := ctrf.Results.Summary; sum.Tests != sum.Passed+sum.Failed+sum.Skipped+sum.Other || sum.Tests != len(ctrf.Results.Tests) {
		t.Errorf("ctrf: summary does not add up: %+v", sum)
	}

	lines := bytes.Count(render(t, "jsonl", r, Options{}), []byte("\n"))
	if want := s.Checkpoints; lines != want {
		t.Errorf("jsonl: %d lines, want %d", lines, want)
	}
	records, err := csv.NewReader(bytes.NewReader(render(t, "csv", r, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	notPassed := map[string]bool{}
	for _, record := range records[1:] {
		if record[7] == "false" {
			notPassed[strings.Join(record[1:6], " ")] = true
		}
	}
	if len(notPassed) != bad {
		t.Errorf("csv: %d checkpoints did not pass, want %d", len(notPassed), bad)
	}
}

func TestWriteChangesNothing(t *testing.T) {
	r := mixed()
	before := render(t, "json", r, Options{})
	for _, format := range Formats() {
		render(t, format, r, Options{})
	}
	if after := render(t, "json", r, Options{}); !bytes.Equal(before, after) {
		t.Error("rendering changed the results")
	}
	if r.Cells[4].Checkpoints != nil {
		t.Error("rendering filled in the model")
	}
}

func TestTestsGolden(t *testing.T) {
	for _, format := range TestFormats() {
		for name, failed := range map[string]bool{"all": false, "failed": true} {
			var b bytes.Buffer
			if err := WriteTests(&b, format, mixed(), failed, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, "tests."+name+"."+format, b.Bytes())
		}
	}
	if err := WriteTests(io.Discard, "xml", mixed(), false, Options{}); err == nil {
		t.Error("an unknown format is not rejected")
	}
}

// A list of failures names each checkpoint that is not solved, up to its limit.
func TestFailuresGolden(t *testing.T) {
	var b bytes.Buffer
	n, err := WriteFailures(&b, mixed(), 3, Options{Page: text.Page{Width: 60}})
	if err != nil || n != 3 {
		t.Errorf("%d failures, error %v", n, err)
	}
	golden(t, "failures.txt", b.Bytes())
	if n, _ := WriteFailures(io.Discard, &Results{Cells: mixed().Unsolved().Cells}, 2, Options{}); n != 3 {
		t.Errorf("%d of what is unsolved, want 3", n)
	}
}

func TestNumbersInNamesCountAsSuch(t *testing.T) {
	r := &Results{Cells: []Cell{{Problem: "p10", Solution: "a"}, {Problem: "p2", Solution: "b10"}, {Problem: "p2", Solution: "b9"}}}
	var order []string
	for _, c := range r.inOrder(false).Cells {
		order = append(order, c.Problem+"/"+c.Solution)
	}
	if got := strings.Join(order, " "); got != "p2/b9 p2/b10 p10/a" {
		t.Error(got)
	}
}

// Spreadsheets run texts that begin like a formula, which names and output of submissions can.
func TestCSVIsInert(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", "=1+1": "'=1+1", "+cmd": "'+cmd", "@SUM(A1)": "'@SUM(A1)", "-": "'-", "\t=1": "'\t=1",
		"-1.5": "-1.5", "+inf": "+inf", "a=b": "a=b", "-1.5 ms": "'-1.5 ms",
	} {
		if got := inert(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A checkpoint without tests is a case of every format that lists tests, also if it passed.
func TestPassedWithoutTests(t *testing.T) {
	score := 50.0
	r := &Results{Schema: Schema, Cells: []Cell{
		{Problem: "done", Solution: "s", Backend: "b", Repeat: 1, Checkpoints: []Checkpoint{{Class: verdict.Judged, Passed: true, Groups: verdict.NoTestCounts()}}},
		{Problem: "half", Solution: "s", Backend: "b", Repeat: 1, Checkpoints: []Checkpoint{{Class: verdict.Judged, Policy: string(verdict.NoRule), Score: &score, Groups: verdict.NoTestCounts()}}},
	}}
	var junit junitReport
	if err := xml.Unmarshal(render(t, "junit-tests", r, Options{}), &junit); err != nil || junit.Tests != 2 || junit.Failures+junit.Errors != 0 {
		t.Errorf("junit-tests: %+v, %v", junit.junitCounts, err)
	}
	var ctrf ctrfReport
	if err := json.Unmarshal(render(t, "ctrf", r, Options{}), &ctrf); err != nil || ctrf.Results.Summary.Tests != 2 || ctrf.Results.Summary.Passed != 2 {
		t.Errorf("ctrf: %+v, %v", ctrf.Results.Summary, err)
	}
	for _, format := range TestFormats() {
		for failed, want := range map[bool]bool{false: true, true: false} {
			var b strings.Builder
			err := WriteTests(&b, format, r, failed, Options{})
			if got := strings.Contains(b.String(), "done/s") && strings.Contains(b.String(), "half/s"); err != nil || got != want {
				t.Errorf("%s, only failures %v: %v\n%s", format, failed, err, b.String())
			}
		}
	}
}
