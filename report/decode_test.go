package report

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Results that were written as JSON or CSV are the same when they are read: tables of them are equal.
func TestDecodeFile(t *testing.T) {
	file, err := os.Open("testdata/mixed.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	lost := Cell{Problem: "z", Solution: "=x", Backend: "b", Repeat: 2, Status: verdict.Error, Checkpoints: []Checkpoint{{Class: verdict.NoScore, ScoreText: "nan", Groups: verdict.NoTestCounts()}}}
	steps := scores("steps", "s", 40) // its checkpoints have scores, and the cell has none
	steps.Checkpoints = append(steps.Checkpoints, steps.Checkpoints[0])
	steps.Checkpoints[0].Name, steps.Checkpoints[1].Name = "one", "two"
	steps.SumUp()
	r.Cells = append(r.Cells, lost, scores("y", "'=x", 12.5), broke("y", "-x"), steps)
	for _, format := range []string{"json", "csv"} {
		var content bytes.Buffer
		if err := Write(&content, format, r, Options{}); err != nil {
			t.Fatal(err)
		}
		if !IsResults(content.Bytes()[:min(content.Len(), resultsHeadSize)]) {
			t.Errorf("%s is not recognized", format)
		}
		got, err := DecodeFile(bytes.NewReader(content.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if last := got.Cells[len(got.Cells)-1]; last.Problem != "steps" || last.Score != nil || last.Status != steps.Status {
			t.Errorf("%s: the last cell is %+v", format, last)
		}
		for _, table := range []string{"csv", "junit-tests"} {
			var want, again bytes.Buffer
			if err := Write(&want, table, r, Options{}); err != nil {
				t.Fatal(err)
			}
			if err := Write(&again, table, got, Options{}); err != nil {
				t.Fatal(err)
			}
			if format == "csv" && table == "junit-tests" { // has the durations of checkpoints, and tasks
				continue
			}
			wanted := want.String()
			if format == "csv" {
				var lines []string
				for line := range strings.Lines(wanted) {
					if !strings.HasPrefix(line, r.Run+",,") { // a task
						lines = append(lines, line)
					}
				}
				wanted = strings.Join(lines, "")
			}
			if again.String() != wanted {
				t.Errorf("%s as %s:\n%s\nwant\n%s", format, table, again.String(), wanted)
			}
		}
	}
	for content, want := range map[string]string{
		strings.Join(csvHeader[:], ",") + "\nr,p,s,b,first" + strings.Repeat(",", 22) + "\n":     `line 2: repeat: want a number from 1 on, not "first"`,
		strings.Join(csvHeader[:], ",") + "\nr,p,s,b,1,,no_score,true" + strings.Repeat(",", 19): `passed but its class is "no_score"`,
		strings.Join(csvHeader[:], ",") + "\nr,p":                                                "line 2: ",
		`{"schema": 9}`: "they have schema 9",
	} {
		if _, err := DecodeFile(strings.NewReader(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
	for _, other := range []string{"", "{}", `{"schema":1,"run":"x","by":["solution"]}`, "problem,score\n"} {
		if IsResults([]byte(other)) {
			t.Errorf("%q is recognized", other)
		}
	}
}
