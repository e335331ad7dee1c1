package report

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// resultsHead is the beginning of the json format, also after a formatter.
var resultsHead = regexp.MustCompile(`^\s*\{\s*"schema"\s*:\s*\d+\s*,\s*"run"\s*:\s*"[^"]*"\s*,\s*"cells"\s*:`)

// resultsHeadSize is the number of bytes by which DecodeFile recognizes a format.
const resultsHeadSize = 4096

// IsResults reports whether a file that begins with head has results in the json or the csv format.
func IsResults(head []byte) bool { return resultsHead.Match(head) || isCSV(head) }

func isCSV(head []byte) bool {
	const first = 10 // columns of the first version
	return bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte(strings.Join(csvHeader[:first], ",")+","))
}

// DecodeFile reads results in the json or the csv format.
func DecodeFile(in io.Reader) (*Results, error) {
	buffered := bufio.NewReaderSize(in, resultsHeadSize)
	if head, _ := buffered.Peek(resultsHeadSize); isCSV(head) { // a short file has an error
		return decodeCSV(buffered)
	}
	return Decode(buffered)
}

// decodeCSV reads the csv format, which has neither labels nor suites. Tasks are left out.
func decodeCSV(in io.Reader) (*Results, error) {
	c := csv.NewReader(in)
	header, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("decoding results: %w", err)
	}
	header[0] = strings.TrimPrefix(header[0], "\xef\xbb\xbf")
	d := csvDecoder{columns: map[string]int{}, cells: map[string]int{}, out: &Results{Schema: Schema, Cells: []Cell{}}}
	for i, name := range header {
		d.columns[name] = i
	}
	for {
		if d.record, err = c.Read(); errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = d.row()
		}
		if err != nil {
			line, _ := c.FieldPos(0)
			return nil, fmt.Errorf("decoding results: line %d: %w", line, err)
		}
	}
	for i := range d.out.Cells {
		cell := &d.out.Cells[i]
		cell.SumUp()
		if err := cell.check(); err != nil {
			return nil, fmt.Errorf("decoding results: cell %d: %w", i+1, err)
		}
	}
	return withLists(d.out), nil
}

// csvDecoder accumulates cells of records.
type csvDecoder struct {
	columns map[string]int
	record  []string
	cells   map[string]int // places in out, by name
	out     *Results
}

// field returns a column, without the apostrophe of inert; "" if the file lacks it.
func (d *csvDecoder) field(name string) string {
	at, known := d.columns[name]
	if !known {
		return ""
	}
	field := d.record[at]
	if rest, quoted := strings.CutPrefix(field, "'"); quoted && inert(rest) == field {
		return rest
	}
	return field
}

// text returns a column, nil if it is empty.
func (d *csvDecoder) text(name string) *string { return present(d.field(name)) }

// number returns a column and whether it is a finite number. A text that is not a number is an error, but for the texts of scores.
func (d *csvDecoder) number(name string) (n *float64, other string, err error) {
	field := d.field(name)
	if field == "" {
		return nil, "", nil
	}
	if slices.Contains([]string{"nan", "inf", "-inf"}, field) {
		return nil, field, nil
	}
	v, err := strconv.ParseFloat(field, 64)
	if err != nil || !statistics.Finite(v) {
		return nil, "", fmt.Errorf("%s: want a number, not %q", name, field)
	}
	return &v, "", nil
}

// row reads a record.
func (d *csvDecoder) row() error {
	if d.field("task") != "" {
		return nil
	}
	repeat, err := strconv.Atoi(d.field("repeat"))
	if err != nil || repeat < 1 {
		return fmt.Errorf("repeat: want a number from 1 on, not %q", d.field("repeat"))
	}
	names := []string{d.field("problem"), d.field("solution"), d.field("backend"), strconv.Itoa(repeat)}
	name := strings.Join(names, "\x00")
	at, known := d.cells[name]
	if !known {
		at = len(d.out.Cells)
		d.cells[name] = at
		d.out.Cells = append(d.out.Cells, Cell{Problem: names[0], Solution: names[1], Backend: names[2], Repeat: repeat})
	}
	if d.out.Run == "" {
		d.out.Run = d.field("run")
	}
	cell, err := &d.out.Cells[at], error(nil)
	last := len(cell.Checkpoints) - 1
	if last < 0 || cell.Checkpoints[last].Name != d.field("checkpoint") {
		c := Checkpoint{Name: d.field("checkpoint"), Class: verdict.Class(d.field("class")), Passed: d.field("passed") == "true", Policy: d.field("policy"),
			Message: d.text("message"), State: d.field("state"), Groups: verdict.NoTestCounts()}
		if c.Score, c.ScoreText, err = d.number("score"); err == nil {
			c.ScoreUnbounded, c.ScoreUnboundedText, err = d.number("score_unbounded")
		}
		for _, figure := range strings.Fields(d.field("figures")) {
			if name, value, ok := cutLast(figure, "="); ok {
				if v, err := strconv.ParseFloat(value, 64); err == nil && statistics.Finite(v) {
					if c.Figures == nil {
						c.Figures = map[string]float64{}
					}
					c.Figures[name] = v
				}
			}
		}
		if err != nil {
			return err
		}
		if run := d.field("run"); run != d.out.Run {
			c.Run = run
		}
		cell.Checkpoints = append(cell.Checkpoints, c)
		last++
	}
	if d.field("test_status") == "" {
		return nil
	}
	return d.test(&cell.Checkpoints[last])
}

func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}

// test adds the test of a record.
func (d *csvDecoder) test(c *Checkpoint) (err error) {
	t := Test{Test: verdict.Test{ID: d.field("test_id"), File: d.field("test_file"), Checkpoint: d.field("test_checkpoint"), Group: verdict.Group(d.field("test_group")),
		Status: verdict.TestStatus(d.field("test_status")), Verdict: d.field("test_verdict")}, Message: d.text("test_message")}
	var ms *float64
	for name, to := range map[string]**float64{"test_duration_ms": &ms, "test_ratio": &t.Ratio, "test_ratio_unbounded": &t.RatioUnbounded, "test_cpu_ms": &t.CPUMS} {
		if *to, _, err = d.number(name); err != nil {
			return err
		}
	}
	if ms != nil {
		t.DurationMS = *ms
	}
	if memory := d.field("test_memory_bytes"); memory != "" {
		n, err := strconv.ParseInt(memory, 10, 64)
		if err != nil {
			return fmt.Errorf("test_memory_bytes: want a whole number, not %q", memory)
		}
		t.MemoryBytes = &n
	}
	c.Tests = append(c.Tests, t)
	c.Collected++
	c.Groups.Add(t.Group, t.Status)
	return nil
}
