// Package modeltest has an endpoint for tests that speaks OpenAI's chat completions, counts
// what it is asked, and fails as real ones do.
package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault specifies an error in the answer to a request.
type Fault int

// The faults.
const (
	None      Fault = iota
	Throttle        // 429 with Retry-After
	Fail            // 500
	Cut             // the stream ends in the middle of the answer
	Hang            // no answer before the client goes away
	Truncated       // the answer reaches its limit of tokens
	Moved           // 307 to another host
	TooLong         // 400 for the length of the prompt
)

// Request is a request that came.
type Request struct {
	Key    string
	Time   time.Time
	Body   map[string]any
	System string
	Prompt string
	Fault  Fault
	Status int
}

// Server is an http.Handler. Its fields are set before it serves.
type Server struct {
	// Answer makes the text; nil answers with a block of code that says "answered".
	Answer func(Request) string
	// Fault of the nth request, from 1; nil has none.
	Fault func(n int, r Request) Fault
	// PerMinute bounds the requests of a key within any minute; 0 means no limit.
	PerMinute int
	// Refuse has the statuses with which keys are refused.
	Refuse map[string]int
	// Models are those that there are; nil takes any.
	Models []string
	// Delay is how long an answer takes.
	Delay time.Duration

	mu    sync.Mutex
	all   []Request
	comes map[string][]time.Time
}

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.all...)
}

// Answered returns how many requests were answered.
func (s *Server) Answered() (n int) {
	for _, r := range s.Requests() {
		if r.Status == http.StatusOK {
			n++
		}
	}
	return n
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.Refuse[key] != 0:
		s.note(Request{Key: key, Time: time.Now(), Status: s.Refuse[key]})
		fail(w, s.Refuse[key], "invalid_api_key", "Incorrect API key provided: "+key)
	case r.URL.Path == "/v1/models":
		var data []map[string]any
		for _, m := range s.Models {
			data = append(data, map[string]any{"id": m, "object": "model"})
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
	case r.URL.Path == "/v1/chat/completions":
		s.complete(w, r, key)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) note(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
}

// admit counts a request; 0 is that it may be answered, and otherwise after how long it may be.
func (s *Server) admit(key string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.comes == nil {
		s.comes = map[string][]time.Time{}
	}
	times := s.comes[key]
	for len(times) > 0 && now.Sub(times[0]) >= time.Minute {
		times = times[1:]
	}
	if s.PerMinute > 0 && len(times) >= s.PerMinute {
		s.comes[key] = times
		return time.Minute - now.Sub(times[0])
	}
	s.comes[key] = append(times, now)
	return 0
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, key string) {
	asked := Request{Key: key, Time: time.Now(), Status: http.StatusOK}
	if err := json.NewDecoder(r.Body).Decode(&asked.Body); err != nil {
		fail(w, http.StatusBadRequest, "bad_json", err.Error())
		return
	}
	messages, _ := asked.Body["messages"].([]any)
	for _, m := range messages {
		message, _ := m.(map[string]any)
		content, _ := message["content"].(string)
		if message["role"] == "system" {
			asked.System = content
		} else {
			asked.Prompt = content
		}
	}
	name, _ := asked.Body["model"].(string)
	known := s.Models == nil
	for _, m := range s.Models {
		known = known || m == name
	}
	wait := s.admit(key, asked.Time)
	s.mu.Lock()
	if s.Fault != nil {
		asked.Fault = s.Fault(len(s.all)+1, asked)
	}
	s.mu.Unlock()
	switch {
	case !known:
		asked.Status = http.StatusNotFound
	case wait > 0 || asked.Fault == Throttle:
		asked.Status = http.StatusTooManyRequests
	case asked.Fault == Fail:
		asked.Status = http.StatusInternalServerError
	case asked.Fault == TooLong:
		asked.Status = http.StatusBadRequest
	case asked.Fault == Moved:
		asked.Status = http.StatusTemporaryRedirect
	case asked.Fault == Cut, asked.Fault == Hang:
		asked.Status = 0
	}
	s.note(asked)
	switch asked.Status {
	case http.StatusNotFound:
		fail(w, asked.Status, "model_not_found", "The model does not exist")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(int(max(wait, time.Second)/time.Second)+1))
		fail(w, asked.Status, "rate_limit_exceeded", "Too many requests")
	case http.StatusBadRequest:
		fail(w, asked.Status, "context_length_exceeded", "The prompt is too long")
	case http.StatusInternalServerError:
		fail(w, asked.Status, "", "The server had an error")
	case http.StatusTemporaryRedirect:
		w.Header().Set("Location", "http://elsewhere.invalid/v1/chat/completions?k="+key)
		w.WriteHeader(asked.Status)
	default:
		s.stream(w, r, asked)
	}
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, asked Request) {
	text := "```\nanswered\n```\n"
	if s.Answer != nil {
		text = s.Answer(asked)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := func() { w.(http.Flusher).Flush() }
	half := len(text) / 2
	send(w, map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": text[:half]}}}})
	flush()
	if s.Delay > 0 {
		time.Sleep(s.Delay)
	}
	finish := "stop"
	switch asked.Fault {
	case Cut:
		panic(http.ErrAbortHandler)
	case Hang:
		<-r.Context().Done()
		return
	case Truncated:
		finish = "length"
	}
	send(w, map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text[half:]}}}})
	send(w, map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}})
	send(w, map[string]any{"choices": []any{}, "usage": map[string]any{
		"prompt_tokens": len(asked.System+asked.Prompt) / 4, "completion_tokens": len(text) / 4, "total_tokens": (len(asked.System+asked.Prompt) + len(text)) / 4}})
	fmt.Fprint(w, "data: [DONE]\n\n")
	flush()
}

func send(w http.ResponseWriter, chunk map[string]any) {
	chunk["id"], chunk["object"], chunk["created"], chunk["model"] = "chatcmpl-1", "chat.completion.chunk", 1, "fake"
	content, err := json.Marshal(chunk)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "data: %s\n\n", content)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": code, "code": code, "param": nil}})
}
