package model

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/gen/modeltest"
)

const key = "sk-very-secret-0123456789"

// ask sends one prompt to a server.
func ask(t *testing.T, s *modeltest.Server, change func(*HTTPOptions)) (Answer, error) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	transport := &http.Transport{} // servers of parallel tests close connections of the default one
	defer transport.CloseIdleConnections()
	o := HTTPOptions{Endpoint: server.URL + "/v1", Model: "small", Timeout: time.Minute, Transport: transport,
		Redact: func(text string) string { return strings.ReplaceAll(text, key, "***") }}
	if change != nil {
		change(&o)
	}
	return NewHTTP(o).Ask(t.Context(), key, Question{System: "be brief", Prompt: "what?"})
}

func TestAnswer(t *testing.T) {
	// Environment variables that the library reads.
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "http://127.0.0.1:1/x")
	}
	s := &modeltest.Server{Answer: func(r modeltest.Request) string { return "you sent " + r.Key }}
	a, err := ask(t, s, func(o *HTTPOptions) { o.Parameters = map[string]any{"temperature": 0.25, "max_tokens": 100} })
	if err != nil || a.Text != "you sent ***" || a.Finish != "stop" || a.Usage != (Usage{InputTokens: 3, OutputTokens: 8}) {
		t.Errorf("%+v, %v", a, err)
	}
	r := s.Requests()[0]
	if r.Key != key || r.System != "be brief" || r.Prompt != "what?" || r.Body["model"] != "small" || r.Body["temperature"] != 0.25 || r.Body["max_tokens"] != 100.0 {
		t.Errorf("%+v", r)
	}
}

// kind names the type of an error that decides what happens next.
func kind(err error) string {
	var throttled *ThrottledError
	var refused *RefusedError
	var wrong *WrongError
	switch {
	case errors.As(err, &throttled):
		return "throttled " + throttled.After.String()
	case errors.As(err, &refused):
		return "refused"
	case errors.As(err, &wrong):
		return "wrong"
	}
	return "again"
}

func TestErrors(t *testing.T) {
	always := func(f modeltest.Fault) *modeltest.Server {
		return &modeltest.Server{Fault: func(int, modeltest.Request) modeltest.Fault { return f }}
	}
	for name, c := range map[string]struct {
		server *modeltest.Server
		change func(*HTTPOptions)
		kind   string
		said   string
	}{
		"429":           {always(modeltest.Throttle), nil, "throttled 2s", "429 Too Many Requests: Too many requests"},
		"500":           {always(modeltest.Fail), nil, "again", "500 Internal Server Error: The server had an error"},
		"cut":           {always(modeltest.Cut), nil, "again", "EOF"},
		"slow":          {always(modeltest.Hang), func(o *HTTPOptions) { o.Timeout = 50 * time.Millisecond }, "again", "no answer within 50ms"},
		"redirect":      {always(modeltest.Moved), nil, "wrong", `write endpoint = "http://elsewhere.invalid/v1"`},
		"401":           {&modeltest.Server{Refuse: map[string]int{key: 401}}, nil, "refused", "401 Unauthorized: Incorrect API key provided: ***"},
		"403":           {&modeltest.Server{Refuse: map[string]int{key: 403}}, nil, "refused", "403 Forbidden"},
		"400":           {&modeltest.Server{Refuse: map[string]int{key: 400}}, nil, "wrong", "refuses the request: 400 Bad Request"},
		"no such model": {&modeltest.Server{Models: []string{"smaller", "large"}}, nil, "wrong", `has no model "small" (hint: it has smaller, large)`},
		"no such path":  {&modeltest.Server{}, func(o *HTTPOptions) { o.Endpoint = strings.TrimSuffix(o.Endpoint, "/v1") }, "wrong", "as a rule a URL that ends in /v1"},
		"no server":     {&modeltest.Server{}, func(o *HTTPOptions) { o.Endpoint = "http://127.0.0.1:1/v1" }, "again", "connection refused at http://127.0.0.1:1/v1"},
		"no TLS":        {&modeltest.Server{}, func(o *HTTPOptions) { o.Endpoint = strings.Replace(o.Endpoint, "http://", "https://", 1) }, "wrong", "does not speak TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ask(t, c.server, c.change)
			if err == nil || kind(err) != c.kind || !strings.Contains(err.Error(), c.said) || strings.Contains(err.Error(), key) {
				t.Errorf("%s: %v; want %s: %s", kind(err), err, c.kind, c.said)
			}
			if n := len(c.server.Requests()); n > 1 {
				t.Errorf("it received %d requests", n)
			}
		})
	}
}

// An answer that never ends is bounded.
func TestEndless(t *testing.T) {
	s := &modeltest.Server{Answer: func(modeltest.Request) string { return strings.Repeat("x", MaxAnswer+1) }}
	if a, err := ask(t, s, nil); err != nil || a.Text != "" || a.Finish != "length" {
		t.Errorf("%d bytes, %s, %v", len(a.Text), a.Finish, err)
	}
}

func TestInterrupted(t *testing.T) {
	s := &modeltest.Server{Fault: func(int, modeltest.Request) modeltest.Fault { return modeltest.Hang }}
	server := httptest.NewServer(s)
	defer server.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	go cancel(why)
	if _, err := NewHTTP(HTTPOptions{Endpoint: server.URL + "/v1", Model: "small"}).Ask(ctx, "", Question{Prompt: "what?"}); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0.5": 500 * time.Millisecond, "-3": 0, "NaN": 0, "1e300": 1000 * time.Hour, "+Inf": 1000 * time.Hour, "soon": 0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"9"}, "Retry-After-Ms": {"250"}}, now); got != 250*time.Millisecond {
		t.Error(got)
	}
}
