package lightcp_test

import (
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/lightcp"
)

func grade(t *testing.T, result string) (*backend.Grade, error) {
	t.Helper()
	s := newServer(t, "1")
	s.Judge = func(string, string, string) string { return result }
	var j backend.JudgeServer = lightcp.NewServer(client(t, s.URL, 0))
	return j.Grade(t.Context(), backend.Submission{Problem: "1", Language: "cpp", Code: []byte("x")})
}

func TestGrade(t *testing.T) {
	g, err := grade(t, `{"status":"done","score":50,"scoreUnbounded":150,"cases":[
	 {"ok":true,"time":2000000,"memory":34,"msg":"points 1","scoreRatio":1,"scoreRatioUnbounded":3},{"ok":false,"msg":"","scoreRatio":0,"scoreRatioUnbounded":0}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if g.Rejected != "" || *g.Score != 50 || *g.ScoreUnbounded != 150 || len(g.Cases) != 2 {
		t.Fatalf("the grade is %+v", g)
	}
	if c := g.Cases[0]; *c.Ratio != 1 || *c.RatioUnbounded != 3 || c.Message != "points 1" || c.Clock != 2*time.Millisecond || c.Memory != 34 || c.Silent {
		t.Errorf("the first case is %+v", c)
	}
	if !g.Cases[1].Silent {
		t.Error("the second case is silent")
	}
}

// Only errors that the compiler prints are the submission's.
func TestGradeErrors(t *testing.T) {
	g, err := grade(t, `{"status":"error","error":"Error: compile failed: main.cpp:1: error: no\n"}`)
	if err != nil || g.Rejected != "main.cpp:1: error: no\n" || g.Score != nil || len(g.Cases) > 0 {
		t.Errorf("%+v, %v", g, err)
	}
	for _, text := range []string{
		"Error: compile failed: Time Limit Exceeded", "Error: compile failed: Internal Error", "Error: compile failed: ",
		"Error: checker compile failed: chk.cc:1: error: no", "Error: ENOENT: no such file or directory, open 'testdata/1.in'", "Error: unsupported lang",
	} {
		_, err := grade(t, `{"status":"error","error":"`+text+`"}`)
		broken(t, err, "it could not judge the submission: ")
	}
}
