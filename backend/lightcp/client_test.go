package lightcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/lightcp"
)

func client(t *testing.T, url string, timeout time.Duration) *lightcp.Client {
	t.Helper()
	c, err := lightcp.New(url, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestJudge(t *testing.T) {
	s := newServer(t, "1", "sum")
	s.Polls = 3
	s.Judge = func(pid, lang, code string) string {
		if pid != "sum" || lang != "cpp" || code != "int main() {}" {
			t.Errorf("handed in: %s %s %q", pid, lang, code)
		}
		return `{"status":"done","passed":false,"result":"Wrong Answer","score":33.266666666666666,"scoreUnbounded":null,"cases":[
		 {"ok":true,"status":"Correct","time":12,"memory":34,"msg":"ok","output":"7\n","scoreRatio":1,"scoreRatioUnbounded":1.5},
		 {"ok":false,"status":"Wrong Answer","time":1,"memory":2,"msg":"","scoreRatio":0,"scoreRatioUnbounded":0},
		 {"ok":false,"status":"Wrong Answer","time":1,"memory":2,"msg":"points .","scoreRatio":null,"scoreRatioUnbounded":null}]}`
	}
	r, err := client(t, s.URL+"/", time.Minute).Judge(t.Context(), lightcp.Submission{Problem: "sum", Language: "cpp", Code: []byte("int main() {}")})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != lightcp.Done || r.Passed || r.Score == nil || *r.Score != 33.266666666666666 || r.ScoreUnbounded != nil || len(r.Cases) != 3 {
		t.Fatalf("the result is %+v", r)
	}
	if c := r.Cases[0]; !c.OK || c.Time != 12 || c.Memory != 34 || c.Message != "ok" || *c.Ratio != 1 || *c.RatioUnbounded != 1.5 || c.Silent() {
		t.Errorf("the first case is %+v", c)
	}
	if !r.Cases[1].Silent() || r.Cases[2].Silent() {
		t.Error("the second case is silent, the third is not")
	}
}

func TestJudgeError(t *testing.T) {
	for given, want := range map[string]string{
		`{"status":"error","error":"Error: compile failed: main.cpp"}`: "Error: compile failed: main.cpp",
		`{"status":"error","message":"no"}`:                            "no",
	} {
		s := newServer(t, "1")
		s.Judge = func(string, string, string) string { return given }
		r, err := client(t, s.URL, 0).Judge(t.Context(), lightcp.Submission{Problem: "1", Language: "cpp", Code: []byte("x")})
		if err != nil || r.Status != lightcp.Failed || r.Error != want {
			t.Errorf("%s: %+v, %v", given, r, err)
		}
	}
}

// Invalid UTF-8 is transferred unchanged.
func TestJudgeBytes(t *testing.T) {
	s := newServer(t, "1")
	var got string
	s.Judge = func(_, _, code string) string { got = code; return `{"status":"done","score":0,"cases":[]}` }
	if _, err := client(t, s.URL, 0).Judge(t.Context(), lightcp.Submission{Problem: "1", Language: "cpp", Code: []byte{0xff, 'A'}}); err != nil {
		t.Fatal(err)
	}
	if got != "/0E=" {
		t.Errorf("handed in: %q", got)
	}
}

// A problem that the server does not know would make it exit.
func TestJudgeUnknownProblem(t *testing.T) {
	s := newServer(t, "1")
	c := client(t, s.URL, 0)
	_, err := c.Judge(t.Context(), lightcp.Submission{Problem: "2", Language: "cpp", Code: []byte("x")})
	broken(t, err, `it has no problem "2"`)
	if len(s.Submitted()) > 0 {
		t.Errorf("handed in: %v", s.Submitted())
	}
	s.Add("2")
	for range 3 {
		if _, err := c.Judge(t.Context(), lightcp.Submission{Problem: "2", Language: "cpp", Code: []byte("x")}); err != nil {
			t.Errorf("once it is there: %v", err)
		}
	}
	if s.Listed() != 2 {
		t.Errorf("the problems were requested %d times, want 2", s.Listed())
	}
}

// Submissions that arrive at the same time could get the same number.
func TestJudgeOneAfterAnother(t *testing.T) {
	s := newServer(t, "1")
	s.Polls = 1
	const clients = 10
	var ready sync.WaitGroup
	ready.Add(clients)
	s.Judge = func(string, string, string) string {
		ready.Wait() // all others are about to send a request
		runtime.Gosched()
		return `{"status":"done","score":0,"cases":[]}`
	}
	c := client(t, s.URL, 0)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			ready.Done()
			if _, err := c.Judge(context.Background(), lightcp.Submission{Problem: "1", Language: "cpp", Code: []byte("x")}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s.Overlap() {
		t.Error("two submissions arrived at once")
	}
	if len(s.Submitted()) != 10 {
		t.Errorf("%d submissions arrived", len(s.Submitted()))
	}
}

func TestJudgeSameNumber(t *testing.T) {
	s := newServer(t, "1")
	s.Same, s.Polls = true, 5
	c := client(t, s.URL, 0)
	errs := make(chan error)
	for range 2 {
		go func() {
			_, err := c.Judge(context.Background(), lightcp.Submission{Problem: "1", Language: "cpp", Code: []byte("x")})
			errs <- err
		}()
	}
	for range 2 { // whose the result is cannot be known
		broken(t, <-errs, "gave two submissions the number 0")
	}
}

func TestJudgeBroken(t *testing.T) {
	ask := func(c *lightcp.Client) error {
		_, err := c.Judge(context.Background(), lightcp.Submission{Problem: "1", Language: "cpp", Code: []byte("x")})
		return err
	}
	t.Run("result lost", func(t *testing.T) {
		s := newServer(t, "1")
		s.Forget = true
		broken(t, ask(client(t, s.URL, 0)), "it lost submission 1")
	})
	t.Run("no server", func(t *testing.T) {
		s := newServer(t, "1")
		s.Close()
		broken(t, ask(client(t, s.URL, 0)), "connection refused")
	})
	t.Run("it dies while judging", func(t *testing.T) {
		s := newServer(t, "1")
		s.Polls = 1 << 30
		s.Judge = func(string, string, string) string { return "{}" }
		var once sync.Once
		s.Queued = func() {
			once.Do(func() { go func() { s.CloseClientConnections(); s.Listener.Close() }() })
		}
		err := ask(client(t, s.URL, time.Minute))
		var tool *backend.ToolError
		if !errors.As(err, &tool) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("never a result", func(t *testing.T) {
		s := newServer(t, "1")
		s.Polls = 1 << 30
		broken(t, ask(client(t, s.URL, 100*time.Millisecond)), "no result after 100ms")
	})
	for _, answer := range []struct{ result, want string }{
		{`nonsense`, `answered "nonsense", which is not a result`},
		{`{"status":"flying"}`, `unknown status "flying"`},
		{`{"status":"error"}`, `an error without a reason`},
		{`{"status":"done","cases":7}`, `not a JSON object of a result`},
	} {
		t.Run(answer.result, func(t *testing.T) {
			s := newServer(t, "1")
			s.Judge = func(string, string, string) string { return answer.result }
			broken(t, ask(client(t, s.URL, 0)), answer.want)
		})
	}
	for path, want := range map[string]string{
		"/problems":  "listing its problems, it answered 500: out of order",
		"/submit":    "it rejected the submission: 500 out of order",
		"/result/1":  "for submission 1 it answered 500: out of order",
		"/problems ": "which is not a list",
		"/submit ":   "not with its number",
	} {
		t.Run("out of order "+path, func(t *testing.T) {
			s := newServer(t, "1")
			wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case path:
					http.Error(w, "out of order", http.StatusInternalServerError)
				case strings.TrimSpace(path):
					fmt.Fprint(w, "{}")
				default:
					s.Config.Handler.ServeHTTP(w, r)
				}
			}))
			t.Cleanup(wrong.Close)
			broken(t, ask(client(t, wrong.URL, 0)), want)
		})
	}
}

func TestJudgeCancelled(t *testing.T) {
	s := newServer(t, "1")
	s.Polls = 1 << 30
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	if _, err := client(t, s.URL, time.Minute).Judge(ctx, lightcp.Submission{Problem: "1", Language: "cpp", Code: []byte("x")}); !errors.Is(err, cause) {
		t.Errorf("the error is %v", err)
	}
}

func TestNew(t *testing.T) {
	for _, endpoint := range []string{"", "localhost:8081", "ftp://host", "http://", "http://[", "/submit"} {
		if _, err := lightcp.New(endpoint, 0); err == nil {
			t.Errorf("%q was taken", endpoint)
		}
	}
}

// broken checks for a backend error that contains a phrase.
func broken(t *testing.T, err error, want string) {
	t.Helper()
	var tool *backend.ToolError
	if !errors.As(err, &tool) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
