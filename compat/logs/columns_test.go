package logs

import (
	"testing"
)

func TestColumns(t *testing.T) {
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
		logs, err := readText(t, columns, "x.csv", c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := formatLogs(logs); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
