package text

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestDuration(t *testing.T) {
	for in, want := range map[float64]string{
		0: "0s", 0.0001: "1ms", 0.08: "80ms", 0.0994: "100ms", 0.1: "0.1s", 1.234: "1.2s", 59.94: "59.9s", 59.96: "1m00s",
		190: "3m10s", 3599.4: "59m59s", 3599.6: "1h00m", 7500: "2h05m", 360000: "100h00m",
		-1: "?", math.NaN(): "?", math.Inf(1): "?",
	} {
		if got := Duration(in); got != want {
			t.Errorf("Duration(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1.0 MiB", 4 << 30: "4.0 GiB",
		math.MaxInt64: "8.0 EiB", -1: "?",
	} {
		if got := Bytes(in); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  []string
	}{
		{"one two three four", 9, []string{"one two", "three", "four"}},
		{"one two\n  laid   out already\nlast", 9, []string{"one two", "  laid   out already", "last"}},
		{"averyveryverylongword x", 5, []string{"averyveryverylongword", "x"}},
		{"no limit at all", 0, []string{"no limit at all"}},
		{"日本 日本 日本", 9, []string{"日本 日本", "日本"}},
		{"a\n\nb\n", 10, []string{"a", "", "b"}},
	} {
		if got := Fold(c.in, c.width); !slices.Equal(got, c.want) {
			t.Errorf("Fold(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestHang(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"  state  fresh and more\nx\n", 14, "  state  fresh\n      and more\nx\n"},
		{"a  b", 80, "a  b"},
		{"one two three", 0, "one two three"},
		{"averyveryverylongword x y", 5, "averyveryverylongword\n    x\n    y"},
		{"averyveryverylongword", 5, "averyveryverylongword"},
		{"日本 日本 日本", 9, "日本 日本\n    日本"},
	} {
		if got := Hang(c.in, c.width); got != c.want {
			t.Errorf("Hang(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestColorTakesNoWidth(t *testing.T) {
	p := NewPalette(true)
	painted := p.Good("日本") + p.Bad("x")
	if painted == "日本x" || Width(painted) != 5 || Pad(painted, 7) != painted+"  " {
		t.Errorf("width %d of %q", Width(painted), painted)
	}
	if off := NewPalette(false); off.Bad("x") != "x" || p.Good("") != "" {
		t.Error("painted for nothing")
	}
}

func TestGridFits(t *testing.T) {
	p := NewPalette(true)
	g := Grid{Header: []string{"name", "n", "note"}, Right: []int{1}, Width: 40, Footer: "done",
		Rows: [][]string{{"日本", "1", "short"}, nil, {p.Bad("red"), "22", strings.Repeat("long ", 20)}, {"row", "3"}}}
	const want = `NAME   N  NOTE
----------------------------------------
日本   1  short
----------------------------------------
red   22  long long long long long long
          long long long long long long
          long long long long long long
          long long
row    3

done
`
	if got := stripColor(g.Text()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if md := g.Markdown(); strings.Count(md, "\n") != 7 {
		t.Errorf("markdown:\n%s", md)
	}
}

// A column that goes for lack of room leaves its value above the table if it is the same in all rows.
func TestGridFoldsConstantColumns(t *testing.T) {
	g := Grid{Header: []string{"name", "backend", "time", "n"}, Spare: []int{1, 2}, Right: []int{3},
		Rows: [][]string{{"one", "local.host", "1s", "1"}, {"two", "local.host", "2s", "2"}}}
	const wide, narrow = "NAME  BACKEND     TIME  N\n-------------------------\none   local.host  1s    1\ntwo   local.host  2s    2\n",
		"BACKEND local.host\nNAME  TIME  N\n-------------\none   1s    1\ntwo   2s    2\n"
	for width, want := range map[int]string{0: wide, 80: wide, 18: narrow} {
		if got := g.On(Page{Width: width}).Text(); got != want {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
}

// A short cause does not shorten the names beside it.
func TestGridKeepsNames(t *testing.T) {
	g := Grid{Header: []string{"checkpoint", "run", "cause"}, Whole: []int{1}, Rows: [][]string{
		{"checkpoint_1", "20261129-164222", "never ran"}, {"checkpoint_2", "20261129-164222", ""},
	}}
	const want = `CHECKPOINT    RUN
-----------------------------
checkpoint_1  20261129-164222
    never ran
checkpoint_2  20261129-164222
`
	if got := g.On(Page{Width: 36}).Text(); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// Any table fits, and its numbers are complete.
func TestGridFitsNames(t *testing.T) {
	p := NewPalette(true)
	g := Grid{Header: []string{"problem", "solution", "n", "note"}, Right: []int{2}, Rows: [][]string{
		{"a-problem-with-a-very-long-name/checkpoint_1", p.Bad("an-agent-with-a-long-name@model_1"), "123456", "said"},
		nil,
		{"a-problem-with-a-very-long-name/checkpoint_2", p.Bad("an-agent-with-a-long-name@model_2"), "1", "said something at length"},
	}}
	const want = `PROBLEM                    SOLUTION                        N
------------------------------------------------------------
a-problem-with-a-very-lon  an-agent-with-a-long-name  123456
g-name/checkpoint_1        @model_1
    said
------------------------------------------------------------
a-problem-with-a-very-lon  an-agent-with-a-long-name       1
g-name/checkpoint_2        @model_2
    said something at length
`
	got := stripColor(g.On(Page{Width: 60}).Text())
	if got != want {
		t.Errorf("got:\n%s", got)
	}
	for line := range strings.Lines(got) {
		if Width(strings.TrimRight(line, "\n")) > 60 {
			t.Errorf("too wide: %s", line)
		}
	}
	if got := g.On(Page{}).Text(); !strings.Contains(got, "something at length") {
		t.Errorf("without a limit:\n%s", got)
	}
}

func TestUnknown(t *testing.T) {
	known := []string{"auto", "always", "never"}
	for in, want := range map[string]string{
		"alwys":  `unknown colour mode "alwys": did you mean "always"? known are auto, always, never`,
		"purple": `unknown colour mode "purple": known are auto, always, never`,
	} {
		if got := Unknown("colour mode", in, known).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Spare columns and those that a caller removes disappear in any combination, at any width.
func TestSpareColumns(t *testing.T) {
	wide := strings.Repeat("w", 20)
	for without := range 16 {
		for spare := range 16 {
			g := Grid{Header: []string{"a", "b", "c", "d"}, Rows: [][]string{{wide, wide, wide, wide}, nil, {"1"}}, Right: []int{1, 2}}
			var columns []int
			for i := range 4 {
				if without>>i&1 == 1 {
					columns = append(columns, i)
				}
				if spare>>i&1 == 1 {
					g.Spare = append(g.Spare, i)
				}
			}
			for _, width := range []int{0, 10, 50, 70, 200} {
				g := g.Without(columns...).On(Page{Width: width})
				header, _, _ := strings.Cut(g.Text(), "\n-")
				header = header[strings.LastIndexByte(header, '\n')+1:] // below the values of removed columns
				for i, name := range []string{"A", "B", "C", "D"} {
					removed := without>>i&1 == 1
					kept := strings.Contains(header, name)
					if below := without>>(i+1) == 15>>(i+1); below && !kept { // the last column
						continue
					}
					if kept && removed || !kept && !removed && (width == 0 || spare>>i&1 == 0) {
						t.Errorf("width %d, without %v, spare %v: %q", width, columns, g.Spare, header)
					}
				}
			}
		}
	}
}
