package columns

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"several models": {"\xef\xbb\xbfmodel,Problem,score,note\r\na,p1,0.5,x\r\na,p1,0.75,\r\nb,p1,,late\r\n",
			"a model=a [score]: p1#1 judged score=0.5; p1#2 judged score=0.75 | b model=b [score]: p1#1 judged"},
		"agents and models":   {"agent,model,id,passed\nx,m,1,1\nx,n,1,0\ny,m,1,1\n", "x m agent=x model=m [passed]: 1#1 judged passed=1 | x n agent=x model=n [passed]: 1#1 judged passed=0 | y m agent=y model=m [passed]: 1#1 judged passed=1"},
		"solutions of models": {"model,solution,id,passed\nm,s,1,1\nm,t,1,0\n", "s model=m [passed]: 1#1 judged passed=1 | t model=m [passed]: 1#1 judged passed=0"},
		"one contender":       {"id,passed,seconds\n7,true,1.5\n8,False,2\n", " [passed seconds]: 7#1 judged passed=1 seconds=1.5; 8#1 judged passed=0 seconds=2"},
		"errors and no numbers": {"task,epoch,score,error\na,0,nan,\na,1,1,\nb,0,,\"the tool\nbroke\"\nb,1,0,retried\n",
			" [score]: a#1 judged; a#2 judged score=1; b#1 no_score (the tool\\nbroke); b#2 no_score score=0 (retried) + 1 value of score without a number, which have no verdict + 1 row with an error and without a number, counted as failed"},
		"an error in a column of verdicts": {"id,passed,note\n1,true,error\n2,Error,\n3,timeout,\n4,later,\n", " [passed]: 1#1 judged passed=1; 2#1 judged passed=0; 3#1 judged passed=0; 4#1 judged + 1 value of passed without a number, which have no verdict"},
		"a column of texts":                {"problem,score,grade\na,1,3\nb,0,good\nc,0,bad\n", " [score]: a#1 judged score=1; b#1 judged score=0; c#1 judged score=0"},
	} {
		logs, err := read(textfile.Open(t, "x.csv", c.text))
		if err != nil || !holds([]byte(c.text)) {
			t.Errorf("%s: %v, %v", name, err, holds([]byte(c.text)))
			continue
		}
		var all []string
		for _, l := range logs {
			all = append(all, formatLog(l))
		}
		if got := strings.Join(all, " | "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func formatLog(l *plan.Log) string {
	head := l.Name
	for _, label := range slices.Sorted(maps.Keys(l.Labels)) {
		head += " " + label + "=" + l.Labels[label]
	}
	var attempts []string
	for _, a := range l.Attempts {
		one := fmt.Sprintf("%s#%d %s", a.Problem, a.Repeat, a.Class)
		for _, m := range l.Metrics {
			if v, ok := a.Values[m]; ok {
				one += fmt.Sprintf(" %s=%v", m, v)
			}
		}
		if a.Message != "" {
			one += " (" + a.Message + ")"
		}
		attempts = append(attempts, one)
	}
	return strings.Join(append([]string{fmt.Sprintf("%s %s: %s", head, l.Metrics, strings.Join(attempts, "; "))}, l.Notes...), " + ")
}

func TestBroken(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "it is empty"},
		"no rows":       {"id,score\n", "it has a header but no rows"},
		"no problem":    {"name,score\na,1\n", "has no column for problems"},
		"twice":         {"id,score,score\na,1,1\n", `duplicate column "score"`},
		"fields":        {"id,score\na,1\nb\n", "line 3"},
		"quotes":        {"id,score\n\"a,1\n", "line 2"},
		"no name":       {"id,score\n,1\n", "line 2: id is empty"},
		"no model":      {"id,model,score\na,,1\n", "line 2: model is empty"},
		"attempt":       {"id,attempt,score\na,first,1\n", `line 2: attempt is "first"`},
		"attempt twice": {"id,attempt,score\na,1,1\na,1,0\n", "line 3: attempt 1 of a is duplicated"},
		"texts":         {"id,score\na,good\n", "no column has numbers"},
		"a large row":   {"id,score\na," + strings.Repeat("1", 3<<20) + "\n", "a row is larger than 1 MiB"},
		"columns":       {"id" + strings.Repeat(",x", 1), "a header"},
	} {
		if name == "columns" {
			many := "id"
			for i := range mostColumns {
				many += fmt.Sprintf(",%d", i)
			}
			c.text, c.want = many+"\n", "more than 1000 columns"
		}
		if _, err := read(textfile.Open(t, "x.csv", c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, other := range []string{"", "a,b\n", "{\"id\": 1}", "problem;score\n", "id,name\n", "\x00"} {
		if holds([]byte(other)) {
			t.Errorf("%q is recognized", other)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("model,problem,score,attempt,error\na,p,1,1,\n")
	f.Fuzz(func(t *testing.T, content string) {
		holds([]byte(content))
		logs, err := read(textfile.Open(t, "x.csv", content))
		for _, l := range logs {
			if err != nil || len(l.Attempts) == 0 || len(l.Metrics) == 0 {
				t.Error("an empty log is not rejected")
			}
		}
	})
}
