package lightcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/backend"

	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// tool is the name of the server in errors about missing tools.
const tool = "lightcp"

const (
	// requestTimeout limits one request. No request waits for a judgement.
	requestTimeout = 30 * time.Second
	// maxAnswer limits an answer in bytes. A result contains the program's output in every case, each cut at
	// 128 MiB by the server.
	maxAnswer = 1 << 30
	// firstPoll and lastPoll are the minimum and the maximum interval of polling for a result.
	firstPoll, lastPoll = 20 * time.Millisecond, 500 * time.Millisecond
)

// Client is a client of one server. Its methods are safe for concurrent use. Every error means that the
// infrastructure failed, and that the submission can be sent again.
type Client struct {
	endpoint string
	timeout  time.Duration
	http     *http.Client

	sending sync.Mutex // concurrent submissions can get the same number
	mu      sync.Mutex // guards the fields below
	known   map[string]bool
	waiting map[int64]int // number of submissions that wait for the result of a number
}

// New returns a client of the server at an http or https URL. It gives up on a submission without a result
// after timeout; 0 means no limit.
func New(endpoint string, timeout time.Duration) (*Client, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the endpoint: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("reading the endpoint: %q is not an http or https URL", endpoint)
	}
	return &Client{
		endpoint: strings.TrimSuffix(endpoint, "/"),
		timeout:  timeout,
		http:     &http.Client{Timeout: requestTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 4}},
		waiting:  map[int64]int{},
	}, nil
}

// Submission is a program for a problem of the server.
type Submission struct {
	Problem  string // its name on the server
	Language string // "cpp" or "python"
	Code     []byte
}

// Judge sends a submission and waits for its result.
func (c *Client) Judge(ctx context.Context, s Submission) (*Result, error) {
	if err := c.checkProblem(ctx, s.Problem); err != nil {
		return nil, err
	}
	if c.timeout > 0 {
		late := fmt.Errorf("no result after %v", c.timeout)
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.timeout, c.trouble(late))
		defer stop()
	}
	sid, err := c.submit(ctx, s)
	if err != nil {
		return nil, err
	}
	r, err := c.wait(ctx, sid)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.waiting[sid]; n > 1 { // it is unknown whose result it is
		return nil, c.trouble(fmt.Errorf("it gave the number %d to two submissions", sid))
	}
	delete(c.waiting, sid)
	return r, err
}

// Problems returns the names of the problems that the server has.
func (c *Client) Problems(ctx context.Context) ([]string, error) {
	text, status, err := c.ask(ctx, http.MethodGet, "/problems", nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Problems []struct {
			ID string `json:"id"`
		} `json:"problems"`
	}
	if status != http.StatusOK {
		return nil, c.trouble(fmt.Errorf("it answered a listing of problems with %d: %s", status, beginning(text)))
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Problems == nil {
		return nil, c.trouble(fmt.Errorf("it answered a listing of problems with %q, which is not a list", beginning(text)))
	}
	names := make([]string, len(answer.Problems))
	for i, p := range answer.Problems {
		names[i] = p.ID
	}
	return names, nil
}

// checkProblem returns an error for an unknown problem, which would end the server. For a problem that is
// not in the cached list, it fetches the list again.
func (c *Client) checkProblem(ctx context.Context, name string) error {
	c.mu.Lock()
	known := c.known[name]
	c.mu.Unlock()
	if known {
		return nil
	}
	names, err := c.Problems(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = make(map[string]bool, len(names))
	for _, n := range names {
		c.known[n] = true
	}
	if !c.known[name] {
		return c.trouble(fmt.Errorf("it has no problem %q", name))
	}
	return nil
}

// submit sends a submission and returns its number.
func (c *Client) submit(ctx context.Context, s Submission) (int64, error) {
	body := map[string]string{"pid": s.Problem, "lang": s.Language}
	if utf8.Valid(s.Code) {
		body["code"] = string(s.Code)
	} else {
		body["codeBase64"] = base64.StdEncoding.EncodeToString(s.Code)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	answer, status, err := c.ask(ctx, http.MethodPost, "/submit", text)
	if err != nil {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, c.trouble(fmt.Errorf("it rejected the submission: %d %s", status, beginning(answer)))
	}
	var got struct {
		SID *int64 `json:"sid"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || got.SID == nil {
		return 0, c.trouble(fmt.Errorf("it answered a submission with %q, which is not a number", beginning(answer)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[*got.SID]++
	return *got.SID, nil
}

// wait polls for a result.
func (c *Client) wait(ctx context.Context, sid int64) (*Result, error) {
	pause := firstPoll
	for {
		text, status, err := c.ask(ctx, http.MethodGet, "/result/"+strconv.FormatInt(sid, 10), nil)
		switch {
		case err != nil:
			return nil, err
		case status == http.StatusNotFound:
			return nil, c.trouble(fmt.Errorf("it lost submission %d: it was restarted, or another client fetched the result", sid))
		case status != http.StatusOK:
			return nil, c.trouble(fmt.Errorf("it answered a query for submission %d with %d: %s", sid, status, beginning(text)))
		}
		var state struct {
			Status string `json:"status"`
		}
		if err := json.Unmarshal(text, &state); err != nil {
			return nil, c.trouble(fmt.Errorf("it answered a query for submission %d with %q, which is not a result", sid, beginning(text)))
		}
		if state.Status != "queued" {
			r, err := decodeResult(text)
			if err != nil {
				return nil, c.trouble(err)
			}
			return r, nil
		}
		if err := retry.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		pause = min(pause*5/4, lastPoll)
	}
}

// ask sends one request and reads the whole answer.
func (c *Client) ask(ctx context.Context, method, path string, body []byte) ([]byte, int, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.endpoint+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, c.unreachable(ctx, fmt.Errorf("its answer was cut off: %w", err))
	case len(text) > maxAnswer:
		return nil, 0, c.trouble(fmt.Errorf("its answer to %s %s is longer than %d bytes", method, path, maxAnswer))
	}
	return text, resp.StatusCode, nil
}

// unreachable returns ctx's cause if that ended the request.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // its text repeats the whole URL
	}
	return c.trouble(err)
}

func (c *Client) trouble(err error) error {
	return &backend.ToolError{Tool: tool, Err: fmt.Errorf("the judge server at %s: %w", c.endpoint, err)}
}

// beginning returns the beginning of an answer, for an error message.
func beginning(text []byte) string {
	const most = 200
	s := strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD"))
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + " ..."
	}
	return s
}
