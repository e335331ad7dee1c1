// Package fakejudge stands in for a judge server in tests of lightcp: it speaks HTTP, imitates the habits of a
// real one, and grades submissions by a function.
package fakejudge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Server is a judge server in memory. It returns each result once, and "queued" before. Set its fields before
// the first request.
type Server struct {
	*httptest.Server
	// Judge returns the result in JSON.
	Judge  func(pid, lang, code string) string
	Polls  int    // number of "queued" answers before a result
	Same   bool   // every submission gets the same number
	Forget bool   // results are lost
	Queued func() // called at each "queued" answer; can be nil

	mu        sync.Mutex
	problems  []string
	next      int64
	results   map[int64]string
	asked     map[int64]int
	submitted []string
	sending   int // submit requests in progress
	overlap   bool
	listed    int
}

// New starts a server with problems. The caller must close it.
func New(problems ...string) *Server {
	s := &Server{problems: problems, results: map[int64]string{}, asked: map[int64]int{}, Judge: Ratios}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /problems", s.list)
	mux.HandleFunc("POST /submit", s.submit)
	mux.HandleFunc("GET /result/{sid}", s.result)
	s.Server = httptest.NewServer(mux)
	return s
}

// Add adds a problem to the server.
func (s *Server) Add(problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, problem)
}

// Submitted lists the submissions so far: problem, language and code, separated by spaces.
func (s *Server) Submitted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.submitted)
}

// Overlap reports whether two submissions ever arrived at once.
func (s *Server) Overlap() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overlap
}

// Listed returns how often the list of problems was requested.
func (s *Server) Listed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// Ratios implements Judge. The code is the list of ratios of its cases, separated by spaces; unbounded
// ratios are twice as large. A case with ratio 0 has no message. Other code does not compile.
func Ratios(_, _, code string) string {
	type one struct {
		OK        bool    `json:"ok"`
		Time      int64   `json:"time"`
		Memory    int64   `json:"memory"`
		Message   string  `json:"msg"`
		Output    string  `json:"output"`
		Ratio     float64 `json:"scoreRatio"`
		Unbounded float64 `json:"scoreRatioUnbounded"`
	}
	cases, sum := []one{}, 0.0
	for _, field := range strings.Fields(code) {
		ratio, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return `{"status":"error","error":"Error: compile failed: main.cpp: ` + field + `\n"}`
		}
		c := one{OK: ratio == 1, Time: 1e6, Memory: 1 << 20, Output: "o", Ratio: ratio, Unbounded: 2 * ratio}
		if ratio > 0 {
			c.Message = "points " + field
		}
		cases, sum = append(cases, c), sum+ratio
	}
	score := sum / float64(max(1, len(cases))) * 100
	text, err := json.Marshal(map[string]any{"status": "done", "score": score, "scoreUnbounded": 2 * score, "cases": cases})
	if err != nil {
		panic(err) // NaN, which tests do not use
	}
	return string(text)
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed++
	var items []string
	for _, p := range s.problems {
		items = append(items, fmt.Sprintf(`{"id":%q}`, p))
	}
	fmt.Fprintf(w, `{"problems":[%s]}`, strings.Join(items, ","))
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
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
	if !s.Same {
		s.next++
	}
	s.submitted = append(s.submitted, body.PID+" "+body.Lang+" "+body.Code+body.CodeBase64)
	s.results[s.next] = s.Judge(body.PID, body.Lang, body.Code+body.CodeBase64)
	fmt.Fprintf(w, `{"sid":%d}`, s.next)
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sid, err := strconv.ParseInt(r.PathValue("sid"), 10, 64)
	text, ok := s.results[sid]
	if err != nil || !ok || s.Forget {
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
		return
	}
	if s.asked[sid]++; s.asked[sid] <= s.Polls {
		fmt.Fprint(w, `{"status":"queued"}`)
		if s.Queued != nil {
			s.Queued()
		}
		return
	}
	delete(s.results, sid)
	fmt.Fprint(w, text)
}
