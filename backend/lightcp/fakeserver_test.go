package lightcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// server is a judge server in memory, with the habits of a real one: a result
// is handed out once, and while it is not there the answer is "queued".
type server struct {
	*httptest.Server
	mu        sync.Mutex
	problems  []string
	judge     func(pid, lang, code string) string // returns a result's JSON
	polls     int                                 // how often a result is queued before it is there
	same      bool                                // every submission gets the same number
	forget    bool                                // results are lost
	next      int64
	results   map[int64]string
	asked     map[int64]int
	submitted []string // pid/lang of each submission
	sending   int      // requests to submit under way
	overlap   bool     // two submissions arrived at once
	listed    int      // how often the list of problems was asked for
}

func newServer(t *testing.T, problems ...string) *server {
	s := &server{problems: problems, results: map[int64]string{}, asked: map[int64]int{},
		judge: func(string, string, string) string {
			return `{"status":"done","passed":true,"score":100,"scoreUnbounded":100,"cases":[]}`
		}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /problems", s.list)
	mux.HandleFunc("POST /submit", s.submit)
	mux.HandleFunc("GET /result/{sid}", s.result)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed++
	var items []string
	for _, p := range s.problems {
		items = append(items, fmt.Sprintf(`{"id":%q}`, p))
	}
	fmt.Fprintf(w, `{"problems":[%s]}`, strings.Join(items, ","))
}

func (s *server) submit(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.sending++
	s.overlap = s.overlap || s.sending > 1
	s.mu.Unlock()
	var body struct{ PID, Lang, Code, CodeBase64 string }
	err := json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending--
	if err != nil || body.PID == "" || body.Lang == "" || body.Code+body.CodeBase64 == "" {
		http.Error(w, `{"error":"pid/lang/code required"}`, http.StatusBadRequest)
		return
	}
	if !s.same {
		s.next++
	}
	s.submitted = append(s.submitted, body.PID+"/"+body.Lang)
	s.results[s.next] = s.judge(body.PID, body.Lang, body.Code+body.CodeBase64)
	fmt.Fprintf(w, `{"sid":%d}`, s.next)
}

func (s *server) result(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sid, err := strconv.ParseInt(r.PathValue("sid"), 10, 64)
	text, ok := s.results[sid]
	if err != nil || !ok || s.forget {
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
		return
	}
	if s.asked[sid]++; s.asked[sid] <= s.polls {
		fmt.Fprint(w, `{"status":"queued"}`)
		return
	}
	delete(s.results, sid)
	fmt.Fprint(w, text)
}
