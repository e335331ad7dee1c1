//go:build unix

package gojudge_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/cache"
)

// answering returns a server that gives the answers to /run in turn, and then the last one. "500 text" and
// "cut" are not results.
func answering(t *testing.T, answers ...string) (box *gojudge.Sandbox, asked *int) {
	asked = new(int)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"buildVersion":"v1","os":"linux","platform":"amd64"}`)
	})
	mux.HandleFunc("GET /file/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "gone" {
			http.NotFound(w, r)
		}
	})
	mux.HandleFunc("DELETE /file/{id}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /run", func(w http.ResponseWriter, _ *http.Request) {
		answer := answers[min(*asked, len(answers)-1)]
		*asked++
		text, refused := strings.CutPrefix(answer, "500 ")
		switch {
		case refused:
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, "%q", text)
		case answer == "cut":
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "[{")
		default:
			fmt.Fprint(w, answer)
		}
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s := gojudge.Connect(cache.NewMemory(), web.URL, "")
	t.Cleanup(func() { s.Close() })
	return gojudge.New(s, gojudge.Options{}), asked
}

const (
	fine = `[{"status":"Accepted","fileIds":{"stdout":"x"}}]`
	busy = `[{"status":"Internal Error","error":"start: a: execve: text file busy"}]`
)

// Errors of the sandbox are errors, never an ending.
func TestBrokenAnswers(t *testing.T) {
	for _, test := range []struct{ answer, want string }{
		{busy, "text file busy"},
		{`[{"status":"Internal Error","error":"failed to get environment"}]`, "Internal Error: failed to get environment"},
		{`[{"status":"Internal Error"}]`, "Internal Error: no details"},
		{`[{"status":"Judgement Failed"}]`, "Judgement Failed"},
		{`[{"status":"Invalid"}]`, "Invalid"},
		{`[{"status":"File Error","error":"copyin failed"}]`, "File Error: copyin failed"},
		{`[{"status":"File Error","fileError":[{"name":"a","type":"CopyInCreateFile","message":"no space left on device"}]}]`, `CopyInCreateFile of "a": no space left`},
		{`[{"status":"Accepted","fileIds":{"stdout":"gone"}}]`, `the server lost file "gone"`},
		{`[]`, "it returned 0 results for 1 programs"},
		{`"what?"`, "unexpected answer to /run"},
		{`{`, "unexpected EOF"},
		{`<html>`, "unexpected answer to /run"},
		{"cut", "unexpected EOF"},
		{"500 worker queue is full", "HTTP 500: worker queue is full"},
		{`500 file does not exists with id: "ABC"`, `file does not exists with id: "ABC"`},
	} {
		box, _ := answering(t, test.answer)
		ends, err := box.Run(t.Context(), shellProgram("true"))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "go-judge at http://") {
			t.Errorf("%s: %+v, %v", test.answer, ends, err)
		}
	}
}

// A request that was not begun is retried, with a limit.
func TestSentAgain(t *testing.T) {
	lost := `500 file does not exists with id: "ABC"`
	for _, test := range []struct {
		answers []string
		asked   int
		fails   bool
	}{
		{[]string{busy, busy, fine}, 3, false},
		{[]string{busy}, 9, true},
		{[]string{lost, fine}, 2, false},
		{[]string{lost, lost, fine}, 2, true},
		{[]string{"500 worker queue is full", fine}, 1, true},
	} {
		box, asked := answering(t, test.answers...)
		ends, err := box.Run(t.Context(), shellProgram("true"))
		if *asked != test.asked || (err != nil) != test.fails || err == nil && ends[0].Status != backend.Exited {
			t.Errorf("%q: %d requests, %+v, %v", test.answers, *asked, ends, err)
		}
	}
}

// Every status maps to an ending.
func TestEndings(t *testing.T) {
	second := int64(time.Second)
	for _, test := range []struct {
		answer string
		want   backend.EndingStatus
		code   int
		signal string
	}{
		{`"status":"Nonzero Exit Status","exitStatus":3`, backend.Exited, 3, ""},
		{`"status":"Signalled","exitStatus":11`, backend.Signalled, 0, "segmentation fault"},
		{`"status":"Signalled","exitStatus":9`, backend.Signalled, 0, "killed"},
		{`"status":"Signalled","exitStatus":40`, backend.Signalled, 0, "signal 40"},
		{`"status":"Signalled","exitStatus":25`, backend.OutputLimit, 0, ""},
		{`"status":"Dangerous Syscall","exitStatus":31`, backend.Signalled, 0, "bad system call"},
		{fmt.Sprintf(`"status":"Signalled","exitStatus":9,"runTime":%d`, 60*second), backend.ClockLimit, 0, ""},
		{fmt.Sprintf(`"status":"Signalled","exitStatus":9,"runTime":%d`, 60*second-2_000_000), backend.ClockLimit, 0, ""},
		{fmt.Sprintf(`"status":"Signalled","exitStatus":9,"runTime":%d`, 59*second), backend.Signalled, 0, "killed"},
		{fmt.Sprintf(`"status":"Time Limit Exceeded","exitStatus":9,"time":%d,"runTime":%d`, 31*second, 32*second), backend.CPULimit, 0, ""},
		{fmt.Sprintf(`"status":"Time Limit Exceeded","exitStatus":9,"time":%d,"runTime":%d`, 3*second, 60*second), backend.ClockLimit, 0, ""},
		{`"status":"Memory Limit Exceeded","exitStatus":9`, backend.MemoryLimit, 0, ""},
		{`"status":"Output Limit Exceeded"`, backend.OutputLimit, 0, ""},
		{`"status":"Output Limit Exceeded","fileError":[{"name":"stderr","type":"CollectSizeExceeded"}]`, backend.Exited, 0, ""},
		{`"status":"Nonzero Exit Status","exitStatus":1,"fileError":[{"name":"stdout","type":"CollectSizeExceeded"}]`, backend.OutputLimit, 0, ""},
		{`"status":"File Error","fileError":[{"name":"a","type":"CopyOutSizeExceeded"}]`, backend.OutputLimit, 0, ""},
		{`"status":"File Error","fileError":[{"name":"a","type":"CopyOutNotRegularFile"}]`, backend.Exited, 0, ""},
	} {
		box, _ := answering(t, "[{"+test.answer+"}]")
		ends, err := box.Run(t.Context(), shellProgram("true"))
		if err != nil || ends[0].Status != test.want || ends[0].Code != test.code || ends[0].Signal != test.signal {
			t.Errorf("%s: %+v, %v", test.answer, ends, err)
		}
	}
	box, _ := answering(t, `[{"status":"Internal Error","error":"start: /bin/sh: execve: no such file or directory"}]`)
	_, err := box.Run(t.Context(), shellProgram("true"))
	var tool *backend.ToolError
	if !errors.As(err, &tool) || tool.Tool != "/bin/sh" {
		t.Errorf("got %v", err)
	}
}
