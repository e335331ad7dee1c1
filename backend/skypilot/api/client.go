// Package api talks to SkyPilot's API server over HTTP: it launches clusters and jobs,
// queries them, and ends them. It is not a backend: it decides nothing about names,
// retries or deadlines.
//
// The server accepts most calls immediately, as requests with an id, and executes them even if the client
// disconnects. Launch returns the id; other calls wait for their result. Only contexts limit the duration
// of calls.
package api

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
)

const (
	// The versions of SkyPilot and its API for which this client was written. The server refuses clients that
	// are too old.
	version, apiVersion = "0.14.1", "62"
	// maxAnswer limits the size of an answer in bytes. The answer of a launch repeats its task.
	maxAnswer = 64 << 20
)

// User is the user of requests. A server separates the clusters of users by ID; a server with a login
// decides by Token and ignores the others.
type User struct {
	ID    string // eight hexadecimal digits; becomes part of names in a cloud
	Name  string
	Token string // of a service account; "" means none
}

// Client talks to one server. Its methods are safe for concurrent use.
type Client struct {
	base string
	user User
	http *http.Client
}

// New returns a client of the server at the URL base. A nil hc means no proxy and no timeout. A Timeout of
// hc would end long launches.
func New(base string, user User, hc *http.Client) *Client {
	own := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	if hc != nil {
		own = *hc
	}
	// A redirect leads to a login page, which is not an answer.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{strings.TrimSuffix(base, "/"), user, &own}
}

// Health is a server's report about itself.
type Health struct {
	Status     string `json:"status"`      // "healthy"
	APIVersion string `json:"api_version"` // a number
	Version    string `json:"version"`     // of SkyPilot
	Commit     string `json:"commit"`
}

// Health queries the server's health. A server that requires a login is an error of KindAuth.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	body, err := c.get(ctx, "/api/health")
	if Unreachable(err) {
		return h, err
	}
	if err != nil {
		return h, fmt.Errorf("querying the health of SkyPilot's API server: %w", err)
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("reading the health of SkyPilot's API server: %w", err)
	}
	if h.Status == "needs_auth" {
		return h, fmt.Errorf("querying the health of SkyPilot's API server: %w", loginError(http.StatusUnauthorized))
	}
	return h, nil
}

// answer is a request as the server describes it.
type answer struct {
	Status string `json:"status"`
	Return string `json:"return_value"` // JSON
	Error  string `json:"error"`        // JSON
}

// Wait waits until the request with that id has ended, and returns its result as JSON. A request that
// failed or was cancelled is an *Error. Several calls can wait for a request, including clients that did
// not make it; ending ctx does not cancel it. A server on this machine drops all requests when it starts,
// and ends them when it stops, but keeps their effects: that is KindEnded.
func (c *Client) Wait(ctx context.Context, request string) (json.RawMessage, error) {
	body, err := c.get(ctx, "/api/get?request_id="+url.QueryEscape(request))
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusNotFound && strings.HasPrefix(e.Message, "Request ") {
		e.Type = "RequestNotFound"
	}
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("reading the answer to request %s: %w", request, err)
	}
	switch a.Status {
	case "SUCCEEDED":
		return json.RawMessage(a.Return), nil
	case "CANCELLED":
		return nil, &Error{Type: "RequestCancelled", Message: "the request was cancelled", Status: http.StatusOK}
	}
	return nil, &Error{Type: "RequestNotFinished", Message: fmt.Sprintf("the request is %q", a.Status), Status: http.StatusOK}
}

// Cancel stops the server's work on a request, but keeps its effects: a launch leaves a cluster in the state
// INIT, which Down ends. A request that has ended or is unknown is a success.
func (c *Client) Cancel(ctx context.Context, request string) error {
	return c.call(ctx, "/api/cancel", map[string]any{"request_ids": []string{request}}, nil)
}

// call makes a request, waits for it, and decodes its result into out unless that is nil.
func (c *Client) call(ctx context.Context, path string, body map[string]any, out any) error {
	request, err := c.post(ctx, path, body)
	if err != nil {
		return err
	}
	value, err := c.Wait(ctx, request)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(value, out); err != nil {
		return fmt.Errorf("%s: reading the answer: %w", path, err)
	}
	return nil
}

// post makes a request and returns its id.
func (c *Client) post(ctx context.Context, path string, body map[string]any) (string, error) {
	resp, err := c.send(ctx, http.MethodPost, path, body)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer resp.Body.Close()
	if _, err := read(resp); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	id := resp.Header.Get("X-Skypilot-Request-Id")
	if id == "" {
		return "", fmt.Errorf("%s: the answer has no request id; is this SkyPilot's API server?", path)
	}
	return id, nil
}

func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	resp, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return read(resp)
}

// send returns a successful response. The caller must close its body.
func (c *Client) send(ctx context.Context, method, path string, body map[string]any) (*http.Response, error) {
	var data io.Reader
	if body != nil {
		body = maps.Clone(body)
		body["env_vars"] = map[string]string{"SKYPILOT_USER_ID": c.user.ID, "SKYPILOT_USER": c.user.Name}
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		data = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, data)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-SkyPilot-API-Version", apiVersion)
	req.Header.Set("X-SkyPilot-Version", version)
	if c.user.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.user.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	// A login page can also come as a success.
	page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
	if resp.StatusCode == http.StatusOK && !page {
		return resp, nil
	}
	defer resp.Body.Close()
	if page && resp.StatusCode < 400 || resp.StatusCode/100 == 3 {
		return nil, loginError(resp.StatusCode)
	}
	text, err := read(resp)
	if err != nil {
		return nil, err
	}
	return nil, decodeError(resp.StatusCode, text)
}

func read(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, unreachable(resp.Request.Context(), err)
	}
	if len(body) > maxAnswer {
		return nil, errors.New("the answer is too long")
	}
	return body, nil
}
