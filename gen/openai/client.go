// Package openai is a model behind an HTTP endpoint that speaks OpenAI's chat completions, as
// most do. Answers are streamed, so that a proxy which ends idle connections ends none, and a
// stream that was cut is not taken for an answer.
//
// Nothing is sent again here, and no redirect is followed: which key is used next, and when,
// is decided by the caller, and a key goes to no other place than the endpoint.
package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/fevalgraph/fevalgraph/gen/model"
)

// Options say which model, and where.
type Options struct {
	Endpoint   string // URL that /chat/completions is below
	Model      string
	Parameters map[string]any // of the request, beside the model and the messages
	Timeout    time.Duration  // of a request, with its answer; 0 is none
	Transport  http.RoundTripper
	// Redact masks what must not be said in a text of the other side. It may be nil.
	Redact func(string) string
}

// Client implements model.Model.
type Client struct {
	o        Options
	requests []option.RequestOption
}

// New returns a client. It reads nothing of the environment.
func New(o Options) *Client {
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	o.Transport = &bounded{o.Transport}
	return &Client{o: o, requests: []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(o.Endpoint, "/") + "/"),
		option.WithHTTPClient(&http.Client{Transport: o.Transport, CheckRedirect: func(to *http.Request, _ []*http.Request) error { return &redirectError{to.URL} }}),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "fevalgraph"),
	}}
}

// with are the options of a request with a key.
func (c *Client) with(key string) []option.RequestOption {
	all := append([]option.RequestOption{}, c.requests...)
	if key != "" {
		all = append(all, option.WithAPIKey(key))
	}
	return all
}

// Ask implements model.Model.
func (c *Client) Ask(ctx context.Context, key string, q model.Question) (model.Answer, error) {
	if c.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.o.Timeout, fmt.Errorf("there was no answer within %v", c.o.Timeout))
		defer cancel()
	}
	with := c.with(key)
	for name, value := range c.o.Parameters {
		with = append(with, option.WithJSONSet(name, value))
	}
	var messages []openai.ChatCompletionMessageParamUnion
	if q.System != "" {
		messages = append(messages, openai.SystemMessage(q.System))
	}
	messages = append(messages, openai.UserMessage(q.Prompt))
	answer, err := c.read(ctx, openai.ChatCompletionNewParams{Model: c.o.Model, Messages: messages,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}}, with)
	if err != nil {
		return model.Answer{}, c.explain(ctx, key, err)
	}
	answer.Text = c.masked(key, answer.Text) // an endpoint may answer with what it was sent
	return answer, nil
}

// read reads a stream to its end.
func (c *Client) read(ctx context.Context, request openai.ChatCompletionNewParams, with []option.RequestOption) (a model.Answer, err error) {
	completions := openai.NewChatCompletionService(with...)
	stream := completions.NewStreaming(ctx, request)
	defer stream.Close()
	var text strings.Builder
	for stream.Next() {
		chunk := stream.Current()
		if u := chunk.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
			a.Usage = model.Usage{InputTokens: max(u.PromptTokens, 0), OutputTokens: max(u.CompletionTokens, 0)}
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			text.WriteString(choice.Delta.Content)
			text.WriteString(choice.Delta.Refusal)
			if choice.FinishReason != "" {
				a.Finish = choice.FinishReason
			}
		}
		if text.Len() > model.MaxAnswer {
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

// masked is a text of the other side without the key that it was sent, and without other
// secrets.
func (c *Client) masked(key, text string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "***")
	}
	return c.o.Redact(text)
}

// redirectError says where a redirect leads.
type redirectError struct{ to *url.URL }

func (e *redirectError) Error() string { return "a redirect" }

// bounded reads no more of an error than a person would: the library reads all there is.
type bounded struct{ under http.RoundTripper }

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	const longest = 1 << 20
	under := b.under
	if under == nil {
		under = http.DefaultTransport
	}
	response, err := under.RoundTrip(r)
	if err == nil && response.StatusCode != http.StatusOK {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, longest), response.Body}
	}
	return response, err
}
