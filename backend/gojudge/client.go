package gojudge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// client is a client of one go-judge.
type client struct {
	base  string // "http://127.0.0.1:5050"
	token string // "" for none
	http  *http.Client
}

// newClient returns a client that ignores proxies in the environment: an endpoint
// is contacted directly.
func newClient(base, token string) *client {
	return &client{base: base, token: token, http: &http.Client{Transport: &http.Transport{
		MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute,
		DisableCompression: true, // compression would cost more than it saves on this machine
	}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// answerLimit limits the size of a JSON answer. Outputs are transferred as
// files, so the largest part is standard error, at most a few MiB.
const answerLimit = 1 << 30

// statusError is an answer with an error status.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string {
	text := e.text
	switch {
	case e.code == http.StatusUnauthorized:
		text = "it rejected the token"
	case text == "":
		text = http.StatusText(e.code)
	}
	return fmt.Sprintf("HTTP %d: %s", e.code, text)
}

// unreachable returns the error for a missing or incomplete answer.
type unreachable struct{ err error }

func (e *unreachable) Error() string { return e.err.Error() }
func (e *unreachable) Unwrap() error { return e.err }

// send sends a request and returns the answer's body, which the caller closes.
func (c *client) send(ctx context.Context, method, path, kind string, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.trouble(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	said := strings.TrimSpace(string(text))
	var quoted string
	if json.Unmarshal(text, &quoted) == nil {
		said = quoted
	}
	return nil, &statusError{code: res.StatusCode, text: said}
}

// trouble distinguishes a cancelled caller from a missing server.
func (c *client) trouble(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err // its text repeats method and address
	}
	return &unreachable{err: err}
}

// ask sends a request and decodes the answer.
func (c *client) ask(ctx context.Context, method, path, kind string, body io.Reader, into any) error {
	answer, err := c.send(ctx, method, path, kind, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	err = json.NewDecoder(io.LimitReader(answer, answerLimit)).Decode(into)
	if err != nil {
		var syntax *json.SyntaxError
		var shape *json.UnmarshalTypeError
		if errors.As(err, &syntax) || errors.As(err, &shape) {
			return fmt.Errorf("unexpected answer to %s: %w", path, err)
		}
		return c.trouble(ctx, err)
	}
	return nil
}

// version returns the version of the server, or an error if it is not a go-judge.
func (c *client) version(ctx context.Context) (*wireVersion, error) {
	var v wireVersion
	if err := c.ask(ctx, http.MethodGet, "/version", "", nil, &v); err != nil {
		var no *statusError
		if errors.As(err, &no) && no.code == http.StatusNotFound {
			return nil, errors.New("the server is not go-judge: it has no /version")
		}
		return nil, err
	}
	if v.BuildVersion == "" || v.OS == "" || v.Platform == "" {
		return nil, errors.New("the server is not go-judge: its /version has no buildVersion")
	}
	return &v, nil
}

// fileStore returns the server's directory for files.
func (c *client) fileStore(ctx context.Context) (string, error) {
	var conf wireConfig
	err := c.ask(ctx, http.MethodGet, "/config", "", nil, &conf)
	return conf.FileStorePath, err
}

// run runs programs.
func (c *client) run(ctx context.Context, r *wireRequest) ([]wireResult, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var results []wireResult
	if err := c.ask(ctx, http.MethodPost, "/run", "application/json", bytes.NewReader(body), &results); err != nil {
		return nil, err
	}
	if len(results) != len(r.Cmd) {
		return nil, fmt.Errorf("it returned %d results for %d programs", len(results), len(r.Cmd))
	}
	return results, nil
}

// upload returns the id of a new file. content is read to its end.
func (c *client) upload(ctx context.Context, content io.Reader) (string, error) {
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	var broken error // error of the content, not of the server
	done := make(chan struct{})
	go func() {
		defer close(done)
		part, err := form.CreateFormFile("file", "file")
		if err == nil {
			_, err = io.Copy(part, &erringReader{r: content, err: &broken})
		}
		if err == nil {
			err = form.Close()
		}
		write.CloseWithError(err)
	}()
	var id string
	err := c.ask(ctx, http.MethodPost, "/file", form.FormDataContentType(), read, &id)
	read.CloseWithError(errors.New("the server answered before the upload ended"))
	<-done
	switch {
	case broken != nil:
		return "", broken
	case err != nil:
		return "", err
	case id == "":
		return "", errors.New("the server returned no id for an upload")
	}
	return id, nil
}

// erringReader stores the error of reading.
type erringReader struct {
	r   io.Reader
	err *error
}

func (w *erringReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		*w.err = err
	}
	return n, err
}

// download opens a file. Reading fails if the server ends.
func (c *client) download(ctx context.Context, id string) (io.ReadCloser, error) {
	body, err := c.send(ctx, http.MethodGet, "/file/"+url.PathEscape(id), "", nil)
	var no *statusError
	if errors.As(err, &no) && no.code == http.StatusNotFound {
		return nil, &lostFile{id: id}
	}
	return body, err
}

// remove removes a file. A missing file is a success.
func (c *client) remove(ctx context.Context, id string) error {
	body, err := c.send(ctx, http.MethodDelete, "/file/"+url.PathEscape(id), "", nil)
	var no *statusError
	if errors.As(err, &no) && no.code == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return body.Close()
}

// lostFile means that the server no longer has a file.
type lostFile struct{ id string }

func (e *lostFile) Error() string { return fmt.Sprintf("the server lost file %q", e.id) }

// lostFileOf returns the file that the server lacks, from its error.
func lostFileOf(err error) *lostFile {
	var no *statusError
	if !errors.As(err, &no) {
		return nil
	}
	if no.code == http.StatusInternalServerError && strings.HasPrefix(no.text, "file does not exist") {
		_, id, _ := strings.Cut(no.text, `"`)
		return &lostFile{id: strings.TrimSuffix(id, `"`)}
	}
	if path, found := strings.CutSuffix(no.text, ": no such file or directory"); found && no.code == http.StatusBadRequest {
		return &lostFile{id: strings.TrimPrefix(path, "lstat ")}
	}
	return nil
}
