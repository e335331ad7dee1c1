package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// HTTPOptions specify the model and its endpoint.
type HTTPOptions struct {
	Endpoint   string // URL without /chat/completions
	Model      string
	Parameters map[string]any // of the request, besides the model and the messages
	Timeout    time.Duration  // of a request, with its answer; 0 means no limit
	Transport  http.RoundTripper
	// Redact masks secrets in a text of the other side. It can be nil.
	Redact func(string) string
}

// HTTP implements Model.
type HTTP struct {
	o    HTTPOptions
	http *http.Client
}

// NewHTTP returns a client. It does not read the environment.
func NewHTTP(o HTTPOptions) *HTTP {
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	return &HTTP{o: o, http: &http.Client{Transport: o.Transport, CheckRedirect: func(to *http.Request, _ []*http.Request) error { return &redirectError{to.URL} }}}
}

// message is a part of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Ask implements Model.
func (c *HTTP) Ask(ctx context.Context, key string, q Question) (Answer, error) {
	if c.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.o.Timeout, fmt.Errorf("no answer within %v", c.o.Timeout))
		defer cancel()
	}
	var messages []message
	if q.System != "" {
		messages = append(messages, message{"system", q.System})
	}
	request := map[string]any{"stream": true, "stream_options": map[string]bool{"include_usage": true}}
	maps.Copy(request, c.o.Parameters)
	request["model"], request["messages"] = c.o.Model, append(messages, message{"user", q.Prompt})
	answer, err := c.read(ctx, key, request)
	if err != nil {
		return Answer{}, c.explain(ctx, key, err)
	}
	answer.Text = c.masked(key, answer.Text) // an endpoint can echo its request
	return answer, nil
}

// send sends a request; nil means without a body. If the answer refuses it, the error is a *statusError.
func (c *HTTP) send(ctx context.Context, key, method, path string, request map[string]any) (*http.Response, error) {
	var body io.Reader
	if request != nil {
		text, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.o.Endpoint, "/")+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "fevalgraph")
	if request != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := c.http.Do(r)
	if err == nil && response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, refusal(response)
	}
	return response, err
}

// chunk is the content of an event in a stream.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// read reads a stream to its end.
func (c *HTTP) read(ctx context.Context, key string, request map[string]any) (a Answer, err error) {
	response, err := c.send(ctx, key, http.MethodPost, "/chat/completions", request)
	if err != nil {
		return a, err
	}
	stream := ssestream.NewStream[chunk](ssestream.NewDecoder(response), nil)
	defer stream.Close()
	var text strings.Builder
	for stream.Next() {
		said := stream.Current()
		if u := said.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
			a.Usage = Usage{InputTokens: max(u.PromptTokens, 0), OutputTokens: max(u.CompletionTokens, 0)}
		}
		for _, choice := range said.Choices {
			if choice.Index != 0 {
				continue
			}
			text.WriteString(choice.Delta.Content)
			text.WriteString(choice.Delta.Refusal)
			if choice.FinishReason != "" {
				a.Finish = choice.FinishReason
			}
		}
		if text.Len() > MaxAnswer {
			a.Text, a.Finish = "", "length"
			return a, nil
		}
	}
	if err := stream.Err(); err != nil {
		return a, err
	}
	if a.Finish == "" {
		return a, errCut
	}
	a.Text = text.String()
	return a, nil
}

var errCut = errors.New("the stream ended before the answer did")

// masked returns a text of the other side without the key that it was sent, and without other secrets.
func (c *HTTP) masked(key, text string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "***")
	}
	return c.o.Redact(text)
}

// redirectError reports where a redirect leads.
type redirectError struct{ to *url.URL }

func (e *redirectError) Error() string { return "a redirect" }

// statusError is an answer that refuses a request.
type statusError struct {
	status              int
	header              http.Header
	message, code, kind string // in the words of the other side
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// refusal reads only the beginning of a refusal, as much as a user would read.
func refusal(response *http.Response) error {
	e := &statusError{status: response.StatusCode, header: response.Header}
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	var said struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
			Code    any    `json:"code"` // a text, or of some servers a number
		} `json:"error"`
	}
	if err == nil && json.Unmarshal(text, &said) == nil {
		e.message, e.kind = said.Error.Message, said.Error.Type
		e.code, _ = said.Error.Code.(string)
	}
	return e
}
