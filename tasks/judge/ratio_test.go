package judge

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/compat/frontier/rules"
)

func exited(code int) end { return end{Status: backend.Exited, Code: code} }

// Outputs of a checker under safe rules. A want without numbers means no verdict.
func TestJudged(t *testing.T) {
	const none = -1
	for _, try := range []struct {
		name             string
		end              end
		said             string
		verdict          string
		ratio, unbounded float64
	}{
		{"silent and content", exited(0), "", Accepted, 1, 1},
		{"accepted, in part", exited(0), "ok Ratio: 0.5", Points, 0.5, 0.5},
		{"wrong", exited(1), "wrong answer 1st numbers differ", WrongAnswer, 0, 0},
		{"wrong, despite a quoted ratio", exited(1), "wrong answer expected 5, found 'Ratio: 1.0 RatioUnbounded: 9'", WrongAnswer, 0, 0},
		{"wrong form, despite a quoted ratio", exited(2), "Ratio: 1.0", PresentationError, 0, 0},
		{"a quoted ratio before its own", exited(7), "points 0.00 bad line 'Ratio: 1.0, RatioUnbounded: 1e6'. Ratio: 0.0000, RatioUnbounded: 0.5000", Points, 0, 0.5},
		{"a quoted ratio after its own", exited(7), "points 0.25 Ratio: 0.2500, RatioUnbounded: 0.5000. Found 'Ratio: 1.0, RatioUnbounded: 1e6'", Points, 0.25, 0.5},
		{"only a quoted ratio", exited(7), "points 0.25 found 'Ratio: 1.0'", Points, 0.25, 0.25},
		{"a quoted ratio without testlib", exited(7), "found 'Ratio: 1.0'. Ratio: 0.5", Points, 0.5, 0.5},
		{"accepted in part, with a quoted ratio", exited(0), "ok 'Ratio: 1.0' Ratio: 0.5", Points, 0.5, 0.5},
		{"a quoted ratio that is not a number", exited(7), "points 0.25 found 'Ratio: nan'. Ratio: 0.2500", Points, 0.25, 0.25},
		{"a quoted ratio below its own", exited(7), "points 0.25 found 'Ratio: 0.0, RatioUnbounded: 1e6'. Ratio: 0.2500, RatioUnbounded: 0.5000", Points, 0, 0.5},
		{"a quoted unbounded ratio", exited(0), "ok found 'RatioUnbounded: 1e6'", Accepted, 1, 1},
		{"a quoted unbounded ratio after a ratio", exited(7), "points 0.25 Ratio: 0.2500. Found 'RatioUnbounded: 1e6'", Points, 0.25, 0.25},
		{"a quoted unbounded ratio after points", exited(7), "points 0.25 found 'RatioUnbounded: 1e6'", Points, 0.25, 0.25},
		{"a quoted pair, without an own unbounded ratio", exited(7), "points 0.25 found 'Ratio: 0.2500, RatioUnbounded: 1e6'. Ratio: 0.2500", Points, 0.25, 0.25},
		{"quoted points", exited(7), "points 1 is no number. Ratio: 0.25", Points, 0.25, 0.25},
		{"quoted points with a quoted ratio", exited(7), "points 1 Ratio: 1.0, RatioUnbounded: 9 is no number. Ratio: 0.25", Points, 0.25, 0.25},
		{"quoted points that are not a ratio", exited(7), "points 50 is no number. Ratio: 0.25", Points, 0.25, 0.25},
		{"quoted points that are not a number", exited(7), "points nan is no number. Ratio: 0.25", Points, 0.25, 0.25},
		{"a remark between the ratios", exited(7), "points 0.25 Ratio: 0.2500 (base=0.1). RatioUnbounded: 1.5", Points, 0.25, 1.5},
		{"ratios in lines", exited(7), "Ratio: 0.25\nRatioUnbounded: 1.5\n3 of 6", Points, 0.25, 1.5},
		{"points and an unbounded ratio", exited(7), "points 0.25 RatioUnbounded: 1.5", Points, 0.25, 1.5},
		{"rounded", exited(7), "points 0.6666666667 Ratio: 0.667", Points, 0.667, 0.667},
		{"points that are not a number", exited(7), "points nan Ratio: nan", CheckerFailed, 0, 0},
		{"wrong form", exited(2), "", PresentationError, 0, 0},
		{"dirt", exited(4), "", PresentationError, 0, 0},
		{"end of file", exited(8), "", PresentationError, 0, 0},
		{"points in testlib's format", exited(7), "points 0.33 near", Points, 0.33, 0.33},
		{"points and a ratio", exited(7), "points 0.33333333 Ratio: 0.3333, RatioUnbounded: 1.2500", Points, 0.3333, 1.25},
		{"all points", exited(7), "points 1 Ratio: 1.0000", Accepted, 1, 1},
		{"no points", exited(7), "points 0 Ratio: 0.0000", Points, 0, 0},
		{"a full stop after the ratio", exited(7), "Ratio: 0.5.", Points, 0.5, 0.5},
		{"an exponent", exited(7), "Ratio: 1e-05", Points, 1e-05, 1e-05},
		{"a negative ratio", exited(7), "Ratio: -0.5", Points, 0, 0},
		{"more than everything", exited(7), "points 1.5 Ratio: 1.5", Accepted, 1, 1.5},
		{"unbounded is infinite", exited(7), "Ratio: 0.5 RatioUnbounded: inf", Points, 0.5, 0.5},
		{"unbounded alone is not a ratio", exited(0), "RatioUnbounded: 3.5", Accepted, 1, 3.5},
		{"not a number", exited(7), "Ratio: nan", CheckerFailed, 0, 0},
		{"infinite", exited(0), "Ratio: inf", CheckerFailed, 0, 0},
		{"a number that is too large", exited(0), "Ratio: 1e999", CheckerFailed, 0, 0},
		{"a decimal comma", exited(7), "Ratio: 0,5", CheckerFailed, 0, 0},
		{"full marks with a decimal comma", exited(0), "ok Ratio: 1,0", CheckerFailed, 0, 0},
		{"points with a decimal comma", exited(7), "points 0,5 near", CheckerFailed, 0, 0},
		{"a comma after the ratio", exited(7), "Ratio: 0.5, 3 of 6", Points, 0.5, 0.5},
		{"without testlib's _pc", exited(0), "partially correct (0) half", "", none, none},
		{"some of testlib's _pc", exited(7), "partially correct (7) half", "", none, none},
		{"what quotes testlib's _pc", exited(1), "wrong answer 'partially correct (7)'", WrongAnswer, 0, 0},
		{"points without any", exited(7), "well done", "", none, none},
		{"points out of a hundred", exited(7), "points 50", "", none, none},
		{"its own failure", exited(3), "FAIL bad answer file Ratio: 1.0", CheckerFailed, 0, 0},
		{"an unknown code", exited(42), "", CheckerFailed, 0, 0},
		{"a crash", end{Status: backend.Signalled, Signal: "segmentation fault"}, "Ratio: 1.0", CheckerFailed, 0, 0},
		{"never ends", end{Status: backend.CPULimit}, "", CheckerFailed, 0, 0},
		{"waits for ever", end{Status: backend.ClockLimit}, "", "", none, none},
		{"too much memory", end{Status: backend.MemoryLimit}, "", CheckerFailed, 0, 0},
		{"too much output", end{Status: backend.OutputLimit}, "Ratio: 1.0", CheckerFailed, 0, 0},
	} {
		v, err := judged(try.end, []byte(try.said))
		if try.ratio == none {
			if err == nil || !strings.HasPrefix(err.Error(), CheckerFailed+": ") {
				t.Errorf("%s: %+v, %v", try.name, v, err)
			}
			continue
		}
		message := strings.HasSuffix(v.Message, try.said) && strings.HasPrefix(v.Message, CheckerFailed+": ") == (try.verdict == CheckerFailed)
		if err != nil || v.Verdict != try.verdict || *v.Ratio != try.ratio || *v.RatioUnbounded != try.unbounded || !message {
			t.Errorf("%s: %q %v %v %q, %v", try.name, v.Verdict, *v.Ratio, *v.RatioUnbounded, v.Message, err)
		}
	}
}

// A ratio counts at any position of a message that is too long to be kept.
func TestJudgedLong(t *testing.T) {
	long := strings.Repeat("x", maxText)
	for _, code := range []int{exitOK, exitPoints} {
		v, err := judged(exited(code), []byte("found "+long+" Ratio: 0.25, RatioUnbounded: 0.5. Expected "+long))
		if err != nil || *v.Ratio != 0.25 || *v.RatioUnbounded != 0.5 || len(v.Message) > maxText+10 {
			t.Errorf("exit status %d: %v %v, %d bytes, %v", code, *v.Ratio, *v.RatioUnbounded, len(v.Message), err)
		}
	}
}

// The order of operations affects the digits of a score; these are exact.
func TestScores(t *testing.T) {
	for _, try := range []struct {
		ratios []float64
		want   float64
	}{
		{[]float64{0.998, 0, 0}, 33.266666666666666},
		{[]float64{0.8772, 0.894, 0.1641}, 64.50999999999999},
		{[]float64{1, 1, 1}, 100},
		{[]float64{0, 0}, 0},
		{[]float64{0.04, 0.35, 0.52}, 30.33333333333333},
		{[]float64{0.52, 0.35, 0.04}, 30.333333333333336},
		{[]float64{1, 77.5}, 3925},
	} {
		if got := plain([]group{{ratios: try.ratios}}); got != try.want {
			t.Errorf("%v: %v, want %v", try.ratios, got, try.want)
		}
		parts := []group{{weight: 1, ratios: try.ratios[:1]}, {weight: 9, ratios: try.ratios[1:]}}
		if got := plain(parts); got != try.want {
			t.Errorf("%v in parts: %v, want %v", try.ratios, got, try.want)
		}
	}
	if got := weighted([]group{{10, []float64{1, 0.5}}, {30, []float64{0}}}); got != 18.75 {
		t.Errorf("weighted: %v", got)
	}
	if got := number(plain([]group{{ratios: []float64{1, math.NaN()}}})); got != nil {
		t.Errorf("a ratio that is not a number: %v", *got)
	}
}

// An interactor that waits both with and without a solution hangs: the solution gets no verdict.
func TestInteractorThatHangs(t *testing.T) {
	ends := func(status ...backend.EndingStatus) (all []backend.Ending) {
		for _, s := range status {
			all = append(all, backend.Ending{Status: s, Clock: time.Second})
		}
		return all
	}
	const clock, cpu, exited = backend.ClockLimit, backend.CPULimit, backend.Exited
	for _, try := range []struct {
		name        string
		rules       Rules
		both, alone []backend.Ending
		asked       int
		broken      bool
	}{
		{"both wait", Rules{}, ends(clock, clock), ends(clock), 2, true},
		{"the interactor waits, then spins", Rules{}, ends(clock, cpu), []backend.Ending{{Status: cpu, CPU: time.Second, Clock: time.Second}}, 2, false},
		{"the interactor spins", Rules{}, []backend.Ending{{Status: clock, Clock: time.Second}, {Status: cpu, CPU: time.Second, Clock: time.Second}}, []backend.Ending{{Status: cpu, CPU: time.Second, Clock: time.Second}}, 2, true},
		{"the interactor waits on a busy machine", Rules{}, ends(clock, clock), []backend.Ending{{Status: cpu, CPU: time.Second, Clock: 2 * time.Second}}, 2, false},
		{"the interactor spins on a machine that stays busy", Rules{}, ends(clock, clock), []backend.Ending{{Status: clock, CPU: time.Second, Clock: 10 * time.Second}}, 2, false},
		{"the solution is done", Rules{}, ends(exited, clock), ends(clock), 2, true},
		{"the solution fills the pipe", Rules{}, ends(clock, clock), ends(exited), 2, false},
		{"the solution loops", Rules{}, ends(cpu, clock), ends(clock), 1, false},
		{"only the solution waits", Rules{}, ends(clock, exited), ends(clock), 1, false},
		{"the benchmark's judge", Rules{Dialect: rules.Judge{}}, ends(clock, clock), ends(clock), 1, false},
	} {
		box := &scripted{ends: [][]backend.Ending{try.both, try.alone}}
		i := &Interact{Rules: try.rules, Box: &Box{Sandbox: box}}
		_, err := i.talk(t.Context(), backend.Program{StdinFrom: 2}, backend.Program{StdinFrom: 1})
		if len(box.asked) != try.asked || (err != nil) != try.broken {
			t.Errorf("%s: %d queries, %v", try.name, len(box.asked), err)
		}
		if last := box.asked[len(box.asked)-1]; try.asked == 2 && (len(last) != 1 || last[0].StdinFrom != 0) {
			t.Errorf("%s: queries %+v", try.name, last)
		}
	}

	// On a busy machine both get more time, and talk as before.
	both := []backend.Ending{{Status: clock, Contended: true}, {Status: clock, Contended: true}}
	box := &scripted{ends: [][]backend.Ending{both, ends(exited), ends(exited, exited)}}
	got, err := (&Interact{Box: &Box{Sandbox: box}}).talk(t.Context(), backend.Program{StdinFrom: 2}, backend.Program{StdinFrom: 1})
	if err != nil || got[0].Status != exited || len(box.asked) != 3 || box.asked[2][0].StdinFrom != 2 || box.asked[2][1].StdinFrom != 1 {
		t.Errorf("%+v, %v after %+v", got, err, box.asked)
	}
}

// A solution and an interactor that are both unhappy.
func TestInteractJudges(t *testing.T) {
	ending := func(e end, said string) backend.Ending {
		return backend.Ending{Status: e.Status, Code: e.Code, Signal: e.Signal, Stderr: []byte(said)}
	}
	loop, wait := end{Status: backend.CPULimit}, end{Status: backend.ClockLimit}
	pipe := end{Status: backend.Signalled, Signal: brokenPipe}
	crash := end{Status: backend.Signalled, Signal: "segmentation fault"}
	for _, try := range []struct {
		name                 string
		solution, interactor end
		said                 string // by the interactor
		safe, dialect        string
	}{
		{"both content", exited(0), exited(0), "ok", "AC 1", "AC 1"},
		{"a wrong answer", exited(0), exited(1), "wrong", "WA 0", "WA 0"},
		{"points", exited(0), exited(7), "Ratio: 0.5", "points 0.5", "points 0.5"},
		{"the solution loops, the interactor has had enough", loop, exited(7), "Ratio: 0.5", "TLE 0", "TLE 0"},
		{"the solution waits, the interactor sees it go", wait, exited(2), "", "TLE 0", "TLE 0"},
		{"the solution floods an interactor that is slow", wait, wait, "", "TLE 0", "TLE 0"},
		{"the solution floods an interactor that computes", wait, loop, "", "TLE 0", "TLE 0"},
		{"the solution floods an interactor, and leaves", exited(0), wait, "", "checker failed 0", "checker failed 0"},
		{"the solution loops, and the interactor too", loop, loop, "", "TLE 0", "TLE 0"},
		{"the solution crashes", crash, exited(1), "unexpected end", "RE 0", "RE 0"},
		{"the solution crashes and the interactor writes to it", crash, pipe, "", "RE 0", "RE 0"},
		{"the solution writes to an interactor that is done", pipe, exited(7), "Ratio: 0.5", "points 0.5", "RE 0"},
		{"the solution writes to an interactor that crashed", pipe, crash, "", "RE 0", "RE 0"},
		{"the solution leaves, the interactor writes to it", exited(0), pipe, "", "WA 0", "WA 0"},
		{"the solution leaves, the interactor reads the end", exited(0), exited(exitEOF), "unexpected end of file", "PE 0", "PE 0"},
		{"the solution leaves, the interactor reads the end and says no word", exited(0), exited(exitPresentation), "", "PE 0", "PE 0"},
		{"the interactor crashes", exited(0), crash, "", "checker failed 0", "checker failed 0"},
		{"the interactor fails", exited(0), exited(3), "FAIL", "checker failed 0", "checker failed 0"},
	} {
		for r, want := range map[Rules]string{{}: try.safe, {Dialect: rules.Judge{}}: try.dialect} {
			v, err := (&Interact{Rules: r}).judge(ending(try.solution, ""), ending(try.interactor, try.said))
			got := ""
			if err == nil {
				got = v.Verdict + " " + strings.TrimSuffix(formatRatio(v.Ratio), ".0")
			}
			if got != want {
				t.Errorf("%s, %v: %q, want %q (%v)", try.name, r, got, want, err)
			}
			if v.Message == "" && (v.Verdict == CheckerFailed || v.Verdict == WrongAnswer) {
				t.Errorf("%s, %v: %s without a message", try.name, r, v.Verdict)
			}
		}
	}
	v, _ := (&Interact{Rules: Rules{Dialect: rules.Judge{}}}).judge(ending(exited(3), "Ratio: 1.0 RatioUnbounded: 77.5"), ending(exited(1), "wrong"))
	if *v.Ratio != 1 || *v.RatioUnbounded != 77.5 {
		t.Errorf("injected: %+v", v)
	}
	if v, _ := (&Interact{}).judge(ending(exited(3), "Ratio: 1.0"), ending(exited(1), "wrong")); *v.Ratio != 0 || v.Verdict != RuntimeError {
		t.Errorf("injected: %+v", v)
	}
}

func formatRatio(r *float64) string {
	switch {
	case r == nil:
		return "-"
	case *r == 0.5:
		return "0.5"
	}
	return strings.Repeat("1", int(*r)) + strings.Repeat("0", 1-int(*r))
}
